// Times dispatches by the GPU's clock, on a device with the feature "timestamp-query".

export class Timestamps {
  private queries: GPUQuerySet | undefined;
  private resolved: GPUBuffer | undefined;
  private readable: GPUBuffer | undefined;
  private step = 0n;

  constructor(private readonly device: GPUDevice) {}

  /** The greatest step that all times were multiples of: browsers may round them. */
  get stepUs(): number | undefined {
    return this.step === 0n ? undefined : Number(this.step) / 1000;
  }

  /**
   * `encode` submits `n` dispatches, each in a pass with these writes. The result has microseconds from the end of the
   * dispatch before to the end of each.
   */
  async time(n: number, encode: (writes: (i: number) => GPUComputePassTimestampWrites) => void): Promise<Float64Array> {
    const nBytes = 8 * (n + 1);
    const { queries, resolved, readable } = this.prepare(n + 1);
    // The first pass also writes its beginning, at 0; pass i its end, at i + 1.
    encode((i) => ({
      querySet: queries,
      ...(i === 0 ? { beginningOfPassWriteIndex: 0 } : {}),
      endOfPassWriteIndex: i + 1,
    }));
    const encoder = this.device.createCommandEncoder();
    encoder.resolveQuerySet(queries, 0, n + 1, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, nBytes);
    this.device.queue.submit([encoder.finish()]);
    await readable.mapAsync(GPUMapMode.READ, 0, nBytes);
    const times = new BigUint64Array(readable.getMappedRange(0, nBytes));
    const us = Float64Array.from({ length: n }, (_, i) => Number(times[i + 1]! - times[i]!) / 1000);
    for (const time of times) this.step = gcd(this.step, time);
    readable.unmap();
    return us;
  }

  private prepare(n: number): { queries: GPUQuerySet; resolved: GPUBuffer; readable: GPUBuffer } {
    const nBytes = 8 * n;
    if (!this.queries || this.queries.count < n) {
      this.queries?.destroy();
      this.queries = this.device.createQuerySet({ type: 'timestamp', count: n });
    }
    if (!this.resolved || !this.readable || this.resolved.size < nBytes) {
      this.resolved?.destroy();
      this.readable?.destroy();
      const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
      this.resolved = this.device.createBuffer({ size: nBytes, usage: QUERY_RESOLVE | COPY_SRC });
      this.readable = this.device.createBuffer({ size: nBytes, usage: MAP_READ | COPY_DST });
    }
    return { queries: this.queries, resolved: this.resolved, readable: this.readable };
  }
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}
