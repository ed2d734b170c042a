// The engine as a page sees it: the same interface as Engine, with the work in a worker.
import type { EngineApi, GenerateEvent, GenerateRequest, LoadedModel, LoadOptions, MemoryPlan, ModelSource,
              Progress } from './api.ts';
import { EngineError } from './errors.ts';
import type { Call, FromWorker } from './rpc.ts';

interface Pending {
  onEvent: (event: Progress | GenerateEvent) => void;
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
    const onEvent = (event: Progress | GenerateEvent) => onProgress(event as Progress);
    return (await this.call({ method: 'open', source: absolute, options }, onEvent)) as MemoryPlan;
  }

  async load(onProgress: (progress: Progress) => void): Promise<LoadedModel> {
    const onEvent = (event: Progress | GenerateEvent) => onProgress(event as Progress);
    return (await this.call({ method: 'load' }, onEvent)) as LoadedModel;
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
      this.onLost?.(new EngineError(message.code, message.text));
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
