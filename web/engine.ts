// The engine in this thread: opens the GPU, feeds a model file to the wasm module, and makes answers.
import { type Caps, openDevice } from './adapter.ts';
import type { EngineApi, FinishReason, GenerateEvent, GenerateRequest, LoadedModel, ModelSource, Progress,
              Timings } from './api.ts';
import { EngineError } from './errors.ts';
import { WasmModule } from './module.ts';
import { ModelFile } from './storage.ts';

/** Engine::wanted() never asks for more after the file's header. */
const supplyBytes = 8 << 20;

interface StepReply {
  text: string;
  ids: number[];
  finish: FinishReason | 'none';
  timings?: Timings;
}

export class Engine implements EngineApi {
  onLost?: (error: EngineError) => void;
  private busy = false;
  private closed = false;

  private constructor(
    readonly device: GPUDevice,
    private readonly module: WasmModule,
    private readonly caps: Caps,
  ) {}

  static async create(wasmUrl: string | URL): Promise<Engine> {
    const { device, caps } = await openDevice();
    const module = await WasmModule.load(wasmUrl, device);
    module.call('ztvm_init', JSON.stringify(caps));
    const engine = new Engine(device, module, caps);
    void device.lost.then(({ message }) => {
      if (!engine.closed) {
        engine.onLost?.(new EngineError('device_lost', `The graphics device was lost. ${message}`.trim()));
      }
    });
    return engine;
  }

  async load(source: ModelSource, onProgress: (progress: Progress) => void): Promise<LoadedModel> {
    const progress: Progress = { stage: 'reading', from: 'network', doneBytes: 0, totalBytes: source.nBytes ?? 0 };
    const file = await ModelFile.open(source, (nBytes) => {
      progress.doneBytes += nBytes;
      onProgress({ ...progress });
    });
    try {
      progress.totalBytes = file.nBytes;
      progress.from = file.fromStorage ? 'storage' : 'network';
      const { fromStorage } = file;
      this.module.call('ztvm_open', source.name, file.nBytes, '{}');
      await this.supplyAll(file);
      onProgress({ ...progress, stage: 'compiling' });
      const { context, dispatches_per_token } = await this.untilReady();
      await file.finish();
      const { adapter, kind } = this.caps;
      const loaded = { adapter, isSoftware: kind === 'cpu', contextTokens: context, fromStorage };
      return { ...loaded, dispatchesPerToken: dispatches_per_token, ...(file.note ? { note: file.note } : {}) };
    } finally {
      file.close();
    }
  }

  async *generate(request: GenerateRequest): AsyncGenerator<GenerateEvent> {
    if (this.busy) throw new EngineError('busy', 'An answer is being made already; stop it first.');
    this.busy = true;
    let finished = false;
    try {
      const { prompt_ids } = this.module.call<{ prompt_ids: number[] }>('ztvm_begin', JSON.stringify(request));
      yield { type: 'begin', promptIds: prompt_ids };
      while (!finished) {
        const { text, ids, finish, timings } = this.step();
        finished = finish !== 'none';
        if (ids.length > 0 || text) yield { type: 'text', text, ids };
        if (finish !== 'none') yield { type: 'end', finish, timings: timings! };
        else await this.module.gpu.settled();
      }
    } catch (error) {
      finished = true;
      throw error;
    } finally {
      if (!finished) await this.abandon();
      this.busy = false;
    }
  }

  stop(): void {
    if (this.busy) this.module.interrupt();
  }

  close(): void {
    this.closed = true;
    this.module.gpu.close();
  }

  private step(): StepReply {
    return this.module.call<StepReply>('ztvm_step');
  }

  /** The consumer left in the middle of an answer: bring the module back to rest. */
  private async abandon(): Promise<void> {
    this.module.interrupt();
    while (this.step().finish === 'none') await this.module.gpu.settled();
  }

  private async supplyAll(file: ModelFile): Promise<void> {
    let capacity = supplyBytes;
    let at = this.module.alloc(capacity);
    for (;;) {
      const { offset, n_bytes } = this.module.call<{ offset?: number; n_bytes?: number }>('ztvm_wanted');
      if (offset === undefined || n_bytes === undefined) break;
      if (n_bytes > capacity) {
        this.module.free(at);
        at = this.module.alloc(n_bytes);
        capacity = n_bytes;
      }
      await file.read(offset, n_bytes, (part, place) => this.module.bytes(at + place, part.length).set(part));
      this.module.call('ztvm_supply', at, n_bytes);
    }
    this.module.free(at);
  }

  private async untilReady(): Promise<{ context: number; dispatches_per_token: number }> {
    for (;;) {
      const state = this.module.call<{ ready: boolean; context: number; dispatches_per_token: number }>('ztvm_ready');
      if (state.ready) return state;
      await this.module.gpu.settled();
    }
  }
}
