// What a page can ask of an engine. Engine (in this thread) and EngineClient (in a worker) both implement EngineApi.
import type { Caps } from './adapter.ts';
import type { Autotune, KvType } from './choices.ts';
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
  /**
   * Of a .gguf, or, with a slash at its end, of a folder of files. Absolute, or relative to the page. The model is
   * kept in this browser under this address.
   */
  url: string;
  /** The .gguf's length in bytes, where it is known; a server that gives another length is refused. */
  nBytes?: number;
  /** Where this site has the same folder, asked before `url`; `files` lists what is in it, where that is known. */
  local?: { url: string; files?: string[] };
}

export interface LoadOptions {
  /** Tokens that the conversation may have; absent: the engine chooses. */
  context?: number;
  /** Type of the KV cache; int8 takes about half the memory of f16. Absent: float. */
  kv?: KvType;
  /** A kernel set in place of the one that is chosen for the adapter, as About names it. */
  kernels?: string;
  /**
   * Whether forms of kernels that were not measured on this adapter yet are, at the end of loading: "auto" unless it is a
   * CPU. Absent: "auto".
   */
  autotune?: Autotune;
  /** Every op is compared with its oracle: slow, for runLockstep(). */
  lockstep?: boolean;
}

/** The adapter, and the kernels chosen for it. */
export interface About {
  adapter: Caps;
  kernel_set: string;
  why: string;
}

/** A case of the self-test that is over: fine without `mismatch` and `error`, which are sentences. */
export interface CaseOutcome {
  index: number;
  n_cases: number;
  kernel: string;
  name: string;
  n_ops: number;
  mismatch?: string;
  error?: string;
}

/** Ops compared with their oracles; how many different ones, of all that the model has; the first that differs. */
export interface LockstepReport {
  n_ops: number;
  n_different: number;
  n_recorded: number;
  mismatch?: string;
}

/** What a model takes on the GPU, in bytes; known before any weight is read. */
export interface MemoryPlan {
  weights_bytes: number;
  kv_cache_bytes: number;
  state_bytes: number;
  scratch_bytes: number;
  total_bytes: number;
  largest_buffer_bytes: number;
  /** Tokens planned for, and the most that the model and the adapter's limits allow. */
  context: number;
  max_context: number;
  /** Weights to read from the model's files. */
  read_bytes: number;
}

export interface Progress {
  stage: 'opening' | 'reading' | 'compiling';
  /** Where the file that is being read lies: this browser, WebLLM's cache in it, this site, or the network. */
  from: 'storage' | 'cache' | 'server' | 'network';
  doneBytes: number;
  /** 0 while it is not known. */
  totalBytes: number;
}

export interface LoadedModel {
  adapter: string;
  /** The adapter computes on the CPU: correct, and slow. */
  isSoftware: boolean;
  contextTokens: number;
  dispatchesPerToken: number;
  fromStorage: boolean;
  /** Why the model was not kept in this browser's storage, if it was not. */
  note?: string;
}

export interface EngineApi {
  /** Reads the model's headers. Fails with out_of_memory or unsupported, with numbers, where it does not fit. */
  open(source: ModelSource, options: LoadOptions, onProgress: (progress: Progress) => void): Promise<MemoryPlan>;
  /** Reads the weights of the opened model and compiles its kernels. */
  load(onProgress: (progress: Progress) => void): Promise<LoadedModel>;
  generate(request: GenerateRequest): AsyncIterable<GenerateEvent>;
  about(): Promise<About>;
  /** Runs the kernels' cases, the quick ones or all; before a model is opened. */
  selfTest(quickOnly: boolean, onCase: (outcome: CaseOutcome) => void): Promise<void>;
  /** Compares a model that was opened with `lockstep`, op by op. */
  lockstep(onReport: (report: LockstepReport) => void): Promise<LockstepReport>;
  /** Ends the running answer; its iterator then yields an `end` event with finish "interrupted". */
  stop(): void;
  close(): void;
  /** Called when the GPU goes away, or the engine broke. The engine is then of no more use: close it and make another. */
  onLost?: (error: EngineError) => void;
}
