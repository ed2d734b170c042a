// The messages between EngineClient (page) and worker.ts.
import type { CaseOutcome, GenerateEvent, GenerateRequest, LoadOptions, LockstepReport, ModelSource, Progress } from './api.ts';
import type { ErrorCode } from './errors.ts';

export type Call =
  | { method: 'create'; wasmUrl: string }
  | { method: 'open'; source: ModelSource; options: LoadOptions }
  | { method: 'load' }
  | { method: 'generate'; request: GenerateRequest }
  | { method: 'about' }
  | { method: 'selfTest'; quickOnly: boolean }
  | { method: 'lockstep' }
  | { method: 'stop' };

/** What a call tells before its result. */
export type CallEvent = Progress | GenerateEvent | CaseOutcome | LockstepReport;

export type ToWorker = Call & { id: number };

export type FromWorker =
  | { type: 'event'; id: number; event: CallEvent }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'error'; id: number; code: ErrorCode; text: string }
  | { type: 'lost'; code: ErrorCode; text: string };
