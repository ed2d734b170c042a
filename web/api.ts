// What a page can ask of an engine. Engine (in this thread) and EngineClient (in a worker) both implement EngineApi.
import type { EngineError } from './errors.ts';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** How the answer is made; the fields and ranges are those of src/engine/generation.hpp. */
export interface GenerateOptions {
  temperature?: number;
  top_k?: number;
  top_p?: number;
  min_p?: number;
  repeat_penalty?: number;
  seed?: number;
  max_tokens?: number;
  ignore_eos?: boolean;
}

/** A chat, token ids, or text to be continued as it is. */
export type GenerateRequest = GenerateOptions & ({ messages: Message[] } | { ids: number[] } | { text: string });

export interface Timings {
  load_ms: number;
  prefill_ms: number;
  decode_ms: number;
  n_prompt_tokens: number;
  n_reused_tokens: number;
  n_output_tokens: number;
}

export type FinishReason = 'stop' | 'length' | 'interrupted';

export type GenerateEvent =
  | { type: 'begin'; promptIds: number[] }
  | { type: 'text'; text: string; ids: number[] }
  | { type: 'end'; finish: FinishReason; timings: Timings };

export interface ModelSource {
  name: string;
  /** Absolute, or relative to the page. */
  url: string;
  /** The file's length in bytes, where it is known; a server that gives another length is refused. */
  nBytes?: number;
}

export interface Progress {
  stage: 'reading' | 'compiling';
  from: 'network' | 'storage';
  doneBytes: number;
  totalBytes: number;
}

export interface LoadedModel {
  adapter: string;
  /** The adapter computes on the CPU: correct, and slow. */
  isSoftware: boolean;
  contextTokens: number;
  dispatchesPerToken: number;
  fromStorage: boolean;
  /** Why the file was not kept in this browser's storage, if it was not. */
  note?: string;
}

export interface EngineApi {
  load(source: ModelSource, onProgress: (progress: Progress) => void): Promise<LoadedModel>;
  generate(request: GenerateRequest): AsyncIterable<GenerateEvent>;
  /** Ends the running answer; its iterator then yields an `end` event with finish "interrupted". */
  stop(): void;
  close(): void;
  /** Called once when the GPU goes away. The engine is then of no more use: close it and make another. */
  onLost?: (error: EngineError) => void;
}
