// The wasm module: instantiation, and calls with strings in and JSON out (see src/web/exports.cpp).
import { EngineError, type ErrorCode } from './errors.ts';
import { Gpu } from './gpu.ts';
import { wasiImports } from './wasi.ts';

type Exported = Record<string, (...args: number[]) => number>;

export class WasmModule {
  private constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly exported: Exported,
    readonly gpu: Gpu,
  ) {}

  static async load(url: string | URL, device: GPUDevice): Promise<WasmModule> {
    let self: WasmModule;
    const gpu = new Gpu(device, {
      memory: () => self.memory.buffer,
      readDone: (token, ok) => void self.export('ztvm_gpu_read_done')(token, ok ? 1 : 0),
      pipelineDone: () => void self.export('ztvm_gpu_pipeline_done')(),
      error: (code, text) => self.withText(text, (at, nBytes) => self.export('ztvm_gpu_error')(code, at, nBytes)),
    });
    const response = await fetch(url).catch(() => undefined);
    if (!response?.ok) throw new EngineError('network', `The engine's program cannot be fetched from ${String(url)}.`);
    const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), {
      wasi_snapshot_preview1: wasiImports(() => new DataView(self.memory.buffer)),
      ztvm: {
        ...gpu.imports(),
        now_ms: () => performance.now(),
        nfc: (at: number, nBytes: number, to: number, capacity: number) => self.nfc(at, nBytes, to, capacity),
      },
    });
    const { memory, ...functions } = instance.exports;
    self = new WasmModule(memory as WebAssembly.Memory, functions as Exported, gpu);
    self.export('_initialize')();
    return self;
  }

  /** Calls an export that answers with JSON. Throws the EngineError that the answer holds. */
  call<T>(name: string, ...args: (string | number)[]): T {
    const texts: number[] = [];
    const numbers = args.flatMap((arg) => {
      if (typeof arg === 'number') return [arg];
      const [at, nBytes] = this.copyIn(arg);
      texts.push(at);
      return [at, nBytes];
    });
    const nReply = this.export(name)(...numbers);
    for (const at of texts) this.free(at);
    const bytes = new Uint8Array(this.memory.buffer, this.export('ztvm_reply')(), nReply);
    const reply = JSON.parse(new TextDecoder().decode(bytes)) as { error?: { code: ErrorCode; text: string } };
    if (reply.error) throw new EngineError(reply.error.code, reply.error.text);
    return reply as T;
  }

  interrupt(): void {
    this.export('ztvm_interrupt')();
  }

  /** Memory of the module; the caller frees it. */
  alloc(nBytes: number): number {
    const at = this.export('ztvm_alloc')(nBytes);
    if (at === 0) throw new EngineError('out_of_memory', `The engine has no memory for ${nBytes} bytes.`);
    return at;
  }

  free(at: number): void {
    this.export('ztvm_free')(at);
  }

  /** A view that is valid until the module's memory grows: take a new one after each call. */
  bytes(at: number, nBytes: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, nBytes);
  }

  /** src/text/nfc_wasm.cpp: writes the composed form of a text, as far as it fits, and returns its length in bytes. */
  private nfc(at: number, nBytes: number, to: number, capacity: number): number {
    const composed = new TextEncoder().encode(new TextDecoder().decode(this.bytes(at, nBytes)).normalize('NFC'));
    this.bytes(to, capacity).set(composed.subarray(0, capacity));
    return composed.length;
  }

  private copyIn(text: string): [at: number, nBytes: number] {
    const encoded = new TextEncoder().encode(text);
    const at = this.alloc(Math.max(1, encoded.length));
    this.bytes(at, encoded.length).set(encoded);
    return [at, encoded.length];
  }

  private withText(text: string, use: (at: number, nBytes: number) => void): void {
    const [at, nBytes] = this.copyIn(text);
    use(at, nBytes);
    this.free(at);
  }

  private export(name: string): (...args: number[]) => number {
    const found = this.exported[name];
    if (!found) throw new EngineError('internal', `The engine's program has no function "${name}".`);
    return found;
  }
}
