// The messages between EngineClient (page) and worker.ts.
import type { GenerateEvent, GenerateRequest, LoadOptions, ModelSource, Progress } from './api.ts';
import type { ErrorCode } from './errors.ts';

export type Call =
  | { method: 'create'; wasmUrl: string }
  | { method: 'open'; source: ModelSource; options: LoadOptions }
  | { method: 'load' }
  | { method: 'generate'; request: GenerateRequest }
  | { method: 'stop' };

export type ToWorker = Call & { id: number };

export type FromWorker =
  | { type: 'event'; id: number; event: Progress | GenerateEvent }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'error'; id: number; code: ErrorCode; text: string }
  | { type: 'lost'; code: ErrorCode; text: string };
