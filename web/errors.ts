// One error type for everything that the engine reports: a code for programs, a sentence for people.

export type ErrorCode =
  // Also the C++ engine's codes (src/base/error.hpp).
  | 'invalid_argument'
  | 'not_found'
  | 'corrupt_file'
  | 'unsupported'
  | 'context_full'
  | 'out_of_memory'
  | 'device'
  | 'device_lost'
  | 'io'
  // Only in a browser.
  | 'no_webgpu'
  | 'no_adapter'
  | 'network'
  | 'busy'
  | 'internal';

export class EngineError extends Error {
  constructor(
    readonly code: ErrorCode,
    text: string,
  ) {
    super(text);
    this.name = 'EngineError';
  }
}

/** Any thrown value as an EngineError, so that it can cross to the page as code and text. */
export function asEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  if (thrown instanceof WebAssembly.RuntimeError) {
    return new EngineError('internal', `The engine stopped on an internal error (${thrown.message}); it must be reloaded.`);
  }
  return new EngineError('internal', thrown instanceof Error ? thrown.message : String(thrown));
}
