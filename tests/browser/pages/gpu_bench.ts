// Drives the GPU imports as the wasm module would, from a memory of its own.
import { Gpu } from '../../../web/gpu.ts';

type Imports = Record<string, (...args: number[]) => void>;

export class GpuBench {
  readonly errors: { code: number; text: string }[] = [];
  private readonly memory = new ArrayBuffer(4 << 20);
  private readonly gpu: Gpu;
  private readonly call: Imports;
  private readonly reads = new Map<number, (ok: boolean) => void>();
  private top = 16;
  private lastId = 0;

  constructor(readonly device: GPUDevice) {
    this.gpu = new Gpu(device, {
      memory: () => this.memory,
      readDone: (token, ok) => this.reads.get(token)?.(ok),
      pipelineDone: () => {},
      error: (code, text) => this.errors.push({ code, text }),
    });
    this.call = this.gpu.imports() as unknown as Imports;
  }

  buffer(nBytes: number): number {
    this.call['gpu_create_buffer']!(++this.lastId, nBytes, ...this.text(`buffer ${this.lastId}`));
    return this.lastId;
  }

  write(buffer: number, offset: number, words: number[]): void {
    const at = this.place(new Uint8Array(new Uint32Array(words).buffer));
    this.call['gpu_write']!(buffer, offset, at, 4 * words.length);
    // What was passed in may change as soon as the call returns.
    new Uint8Array(this.memory, at, 4 * words.length).fill(0xee);
  }

  /** `access` has 0 (read) or 1 (read_write) for each binding. */
  pipeline(label: string, wgsl: string, access: number[]): number {
    const [codeAt, nCode] = this.text(wgsl);
    const accessAt = this.place(new Uint8Array(access));
    this.call['gpu_create_pipeline']!(++this.lastId, codeAt, nCode, ...this.text(label), accessAt, access.length);
    return this.lastId;
  }

  bindings(pipeline: number, buffers: number[]): number {
    const at = this.place(new Uint8Array(new Uint32Array(buffers).buffer));
    this.call['gpu_create_bindings']!(++this.lastId, pipeline, at, buffers.length);
    return this.lastId;
  }

  destroy(id: number): void {
    this.call['gpu_destroy']!(id);
  }

  /** Each command is [kind, a, b, x, y, z]. */
  submit(commands: number[][]): void {
    const at = this.place(new Uint8Array(new Uint32Array(commands.flat()).buffer));
    this.call['gpu_submit']!(at, commands.length);
    new Uint8Array(this.memory, at, 24 * commands.length).fill(0xee);
  }

  /** The words read, or nothing when the device says that it could not. */
  read(buffer: number, offset: number, nWords: number): Promise<number[] | undefined> {
    const at = this.place(new Uint8Array(4 * nWords));
    return new Promise((resolve) => {
      this.reads.set(at, (ok) => resolve(ok ? [...new Uint32Array(this.memory, at, nWords)] : undefined));
      this.call['gpu_read']!(buffer, offset, at, 4 * nWords, at);
    });
  }

  settled(): Promise<void> {
    return this.gpu.settled();
  }

  private place(bytes: Uint8Array): number {
    const at = this.top;
    this.top += Math.ceil(bytes.length / 4) * 4;
    new Uint8Array(this.memory, at, bytes.length).set(bytes);
    return at;
  }

  private text(text: string): [number, number] {
    const bytes = new TextEncoder().encode(text);
    return [this.place(bytes), bytes.length];
  }
}
