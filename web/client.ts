// The engine as a page sees it: the same interface as Engine, with the work in a worker.
import type { About, CaseOutcome, EngineApi, GenerateEvent, GenerateRequest, LoadedModel, LoadOptions, LockstepReport,
              MemoryPlan, ModelSource, Progress } from './api.ts';
import { EngineError } from './errors.ts';
import type { Call, CallEvent, FromWorker } from './rpc.ts';

interface Pending {
  onEvent: (event: CallEvent) => void;
  resolve: (result: unknown) => void;
  reject: (error: EngineError) => void;
}

export class EngineClient implements EngineApi {
  onLost?: (error: EngineError) => void;
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  private constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = ({ message }) => {
      this.failAll(new EngineError('internal', `The engine's worker failed: ${message || 'it did not start'}.`));
    };
  }

  static async create(wasmUrl: string | URL): Promise<EngineClient> {
    const client = new EngineClient();
    await client.call({ method: 'create', wasmUrl: String(wasmUrl) }).catch((error: unknown) => {
      client.close();
      throw error;
    });
    return client;
  }

  async open(source: ModelSource, options: LoadOptions, onProgress: (progress: Progress) => void): Promise<MemoryPlan> {
    const absolute = { ...source, url: new URL(source.url, location.href).href };
    if (source.local) absolute.local = { ...source.local, url: new URL(source.local.url, location.href).href };
    return (await this.call({ method: 'open', source: absolute, options }, (event) => onProgress(event as Progress))) as MemoryPlan;
  }

  async load(onProgress: (progress: Progress) => void): Promise<LoadedModel> {
    return (await this.call({ method: 'load' }, (event) => onProgress(event as Progress))) as LoadedModel;
  }

  async *generate(request: GenerateRequest): AsyncGenerator<GenerateEvent> {
    const events: GenerateEvent[] = [];
    let ended = false;
    let failure: EngineError | undefined;
    let wake = () => {};
    const done = this.call({ method: 'generate', request }, (event) => {
      events.push(event as GenerateEvent);
      wake();
    })
      .catch((error: EngineError) => (failure = error))
      .finally(() => {
        ended = true;
        wake();
      });
    try {
      for (;;) {
        while (events.length > 0) yield events.shift()!;
        if (ended) break;
        await new Promise<void>((resolve) => (wake = resolve));
      }
      if (failure) throw failure;
    } finally {
      if (!ended) {
        this.stop();
        await done;
      }
    }
  }

  async about(): Promise<About> {
    return (await this.call({ method: 'about' })) as About;
  }

  async selfTest(quickOnly: boolean, onCase: (outcome: CaseOutcome) => void): Promise<void> {
    await this.call({ method: 'selfTest', quickOnly }, (event) => onCase(event as CaseOutcome));
  }

  async lockstep(onReport: (report: LockstepReport) => void): Promise<LockstepReport> {
    return (await this.call({ method: 'lockstep' }, (event) => onReport(event as LockstepReport))) as LockstepReport;
  }

  stop(): void {
    void this.call({ method: 'stop' }).catch(() => {});
  }

  close(): void {
    this.worker.terminate();
    this.failAll(new EngineError('internal', 'The engine was closed.'));
  }

  private call(call: Call, onEvent: Pending['onEvent'] = () => {}): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { onEvent, resolve, reject });
      this.worker.postMessage({ ...call, id });
    });
  }

  private receive(message: FromWorker): void {
    if (message.type === 'lost') {
      const error = new EngineError(message.code, message.text);
      this.onLost?.(error);
      this.failAll(error);
      return;
    }
    const pending = this.pending.get(message.id);
    if (message.type === 'event') {
      pending?.onEvent(message.event);
      return;
    }
    this.pending.delete(message.id);
    if (message.type === 'result') pending?.resolve(message.result);
    else pending?.reject(new EngineError(message.code, message.text));
  }

  private failAll(error: EngineError): void {
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}
