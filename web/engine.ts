// The engine in this thread: opens the GPU, feeds a model file to the wasm module, and makes answers.
import { type Caps, openDevice } from './adapter.ts';
import type { About, CaseOutcome, EngineApi, FinishReason, GenerateEvent, GenerateRequest, LoadedModel, LoadOptions,
              LockstepReport, MemoryPlan, ModelSource, Progress, Timings } from './api.ts';
import { asEngineError, EngineError } from './errors.ts';
import { ModelFiles } from './model_files.ts';
import { WasmModule } from './module.ts';
import { probe, type Probed } from './probe.ts';
import { runLockstep, runSelfTest } from './self_checks.ts';
import { loadTuning, saveTuning } from './tuning_store.ts';

/** Engine::wanted() never asks for more after the headers. */
const supplyBytes = 8 << 20;
/** Bytes that may wait on their way to the GPU. */
const uploadBytes = 128 << 20;
const tellEveryMs = 50;

/** load::WantedRange; without `file`, everything was read. */
interface Wanted {
  file?: string;
  offset: number;
  n_bytes: number;
  whole: boolean;
  optional: boolean;
}

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
  private files: ModelFiles | undefined;
  private plan: MemoryPlan | undefined;
  private progress: Progress = { stage: 'opening', from: 'storage', doneBytes: 0, totalBytes: 0 };
  private onProgress: (progress: Progress) => void = () => {};
  /** The module's memory through which the model passes. */
  private supply = { at: 0, nBytes: 0 };
  private nWaiting = 0;
  /** What was measured before this visit. */
  private tuning = '';
  private toldAtMs = 0;

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

  async open(source: ModelSource, options: LoadOptions, onProgress: (progress: Progress) => void): Promise<MemoryPlan> {
    const files = new ModelFiles(source, (nBytes) => this.onBytes(nBytes));
    this.files = files;
    this.progress = { stage: 'opening', from: 'storage', doneBytes: 0, totalBytes: 0 };
    this.onProgress = onProgress;
    return this.orClose(async () => {
      const nBytes = files.isFolder ? 0 : (await files.open(source.name))!;
      this.progress.totalBytes = nBytes;
      this.tuning = await loadTuning();
      const asked = { autotune: 'auto', ...options, tuning: this.tuning };
      this.module.call('ztvm_open', source.name, files.isFolder ? 1 : 0, nBytes, JSON.stringify(asked));
      for (;;) {
        const plan = this.module.call<Partial<MemoryPlan>>('ztvm_memory_plan');
        if (plan.total_bytes !== undefined) return (this.plan = plan as MemoryPlan);
        if (!(await this.supplyNext())) throw new EngineError('internal', 'The model was read without a memory plan.');
      }
    });
  }

  async load(onProgress: (progress: Progress) => void): Promise<LoadedModel> {
    const { files, plan } = this;
    if (!files || !plan) throw new EngineError('invalid_argument', 'No model is open.');
    // Of a .gguf all is read, of a folder only what the engine needs.
    if (files.isFolder) this.progress = { ...this.progress, doneBytes: 0, totalBytes: plan.read_bytes };
    this.progress.stage = 'reading';
    this.onProgress = onProgress;
    return this.orClose(async () => {
      files.readAhead();
      while (await this.supplyNext()) {
        if (this.nWaiting < uploadBytes) continue;
        await this.device.queue.onSubmittedWorkDone();
        this.nWaiting = 0;
      }
      onProgress({ ...this.progress, stage: 'compiling' });
      const { context, dispatches_per_token } = await this.untilReady();
      await this.keepTuning();
      await files.finish();
      files.close();
      const { adapter, kind } = this.caps;
      const loaded = { adapter, isSoftware: kind === 'cpu', contextTokens: context, fromStorage: files.fromStorage };
      return { ...loaded, dispatchesPerToken: dispatches_per_token, ...(files.note ? { note: files.note } : {}) };
    });
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

  /** Of `ids` the logits after the last, and before them, if asked, the hidden states after each layer. */
  async *probe(ids: number[], hidden: boolean): AsyncGenerator<Probed> {
    if (this.busy) throw new EngineError('busy', 'An answer is being made already; stop it first.');
    this.busy = true;
    try {
      yield* probe(this.module, ids, hidden);
    } finally {
      this.busy = false;
    }
  }

  async about(): Promise<About> {
    const { set, why } = this.module.call<{ set: string; why: string }>('ztvm_kernel_set');
    return { adapter: this.caps, kernel_set: set, why };
  }

  async selfTest(quickOnly: boolean, onCase: (outcome: CaseOutcome) => void): Promise<void> {
    await runSelfTest(this.module, quickOnly, onCase);
  }

  lockstep(onReport: (report: LockstepReport) => void): Promise<LockstepReport> {
    return runLockstep(this.module, (request) => this.generate(request), onReport);
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

  private onBytes(nBytes: number): void {
    this.progress.doneBytes += nBytes;
    this.progress.from = this.files!.place;
    // A fast network brings thousands of parts a second.
    const nowMs = performance.now();
    if (nowMs - this.toldAtMs < tellEveryMs) return;
    this.toldAtMs = nowMs;
    this.onProgress({ ...this.progress });
  }

  /** What ends a load early must not keep other tabs from the model's files. */
  private async orClose<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (asEngineError(error).code === 'corrupt_file') await this.files?.evict();
      this.files?.close();
      throw error;
    }
  }

  /** Hands the engine the bytes that it wants next. False: it has everything. */
  private async supplyNext(): Promise<boolean> {
    const files = this.files!;
    const wanted = this.module.call<Wanted>('ztvm_wanted');
    const { file, offset, whole, optional } = wanted;
    if (file === undefined) {
      this.freeSupply();
      return false;
    }
    const nFileBytes = await files.open(file, whole ? { maxBytes: wanted.n_bytes, optional } : undefined);
    if (nFileBytes === undefined) {
      this.module.call('ztvm_supply_missing');
      return true;
    }
    // Less where the file ends earlier.
    const nBytes = Math.max(0, Math.min(whole ? nFileBytes : wanted.n_bytes, nFileBytes - offset));
    const at = this.supplyMemory(nBytes);
    await files.read(file, offset, nBytes, (part, place) => this.module.bytes(at + place, part.length).set(part));
    this.module.call('ztvm_supply', at, nBytes, nFileBytes);
    this.nWaiting += nBytes;
    return true;
  }

  private async keepTuning(): Promise<void> {
    const { text } = this.module.call<{ text?: string }>('ztvm_tuning');
    if (text !== undefined && text !== this.tuning) await saveTuning(text);
  }

  private supplyMemory(nBytes: number): number {
    if (nBytes > this.supply.nBytes) {
      this.freeSupply();
      const capacity = Math.max(nBytes, supplyBytes);
      this.supply = { at: this.module.alloc(capacity), nBytes: capacity };
    }
    return this.supply.at;
  }

  private freeSupply(): void {
    if (this.supply.nBytes > 0) this.module.free(this.supply.at);
    this.supply = { at: 0, nBytes: 0 };
  }

  private async untilReady(): Promise<{ context: number; dispatches_per_token: number }> {
    for (;;) {
      const state = this.module.call<{ ready: boolean; context: number; dispatches_per_token: number }>('ztvm_ready');
      if (state.ready) return state;
      await this.module.gpu.settled();
    }
  }
}
