// What the bench page and its worker tell each other, and the report. Names in the report are those of `zerotvm bench --json`.
import type { About, MemoryPlan } from '../api.ts';
import type { Autotune } from '../choices.ts';
import type { ErrorCode } from '../errors.ts';
import type { GpuCounts } from '../gpu.ts';

/** ztvm_bench_open's request (src/web/request.hpp). */
export interface BenchRequest {
  model: string;
  /** Absent: all. */
  layers?: number;
  prompt_tokens: number;
  gen_tokens: number;
  depths: number[];
  repeat: number;
  /** Type of the KV cache. Absent: float. */
  kv?: 'int8';
  /** Whether forms of kernels are measured: see LoadOptions. */
  autotune?: Autotune;
}

export interface Samples {
  median: number;
  /** (largest - smallest) / median. */
  spread: number;
  values: number[];
}

export interface DecodeFigure {
  depth: number;
  tokens_per_s: Samples;
  total_tokens_per_s: Samples;
  ttft_ms: Samples;
  bytes_per_token: number;
  gb_per_s: number;
  share_of_stream: number;
  dispatches_per_token: number;
  submits_per_token: number;
  host_ms_per_token: number;
  /** Buffers, pipelines and bindings that the engine made in the timed runs. */
  n_created: number;
  /** Calls of WebGPU in all timed runs together. */
  webgpu_calls: GpuCounts;
}

export interface Figures {
  adapter: string;
  driver: string;
  /** The kernel set. */
  kernels: string;
  /** The forms that were measured as the fastest, by shape. */
  forms: Record<string, string>;
  model: string;
  n_layers?: number;
  n_gen_tokens: number;
  stream_gb_per_s: number;
  prefill: { n_tokens: number; tokens_per_s: Samples; ttft_ms: Samples };
  decode: DecodeFigure[];
}

export interface KernelTime {
  name: string;
  n_ops: number;
  ms: number;
  n_bytes: number;
}

export interface KernelTimes {
  prefill_kernels: KernelTime[];
  /** Of a token at the last depth. */
  decode_kernels: KernelTime[];
  /** Steps of the clock in microseconds. */
  clock_step_us: number;
}

export interface Report extends Partial<Figures>, Partial<KernelTimes> {
  user_agent: string;
  request: BenchRequest;
  about?: About;
  memory_plan?: MemoryPlan;
  /** Why kernels were not timed, or how far their times can be believed. */
  clock_note?: string;
  /** What ended the run early. */
  failure?: string;
}

/** `kernels` runs on a device of its own, because timestamps slow some drivers. */
export type Task = 'rates' | 'kernels';

export interface ToWorker {
  task: Task;
  wasmUrl: string;
  request: BenchRequest;
}

export type FromWorker =
  | { type: 'about'; about: About }
  | { type: 'plan'; plan: MemoryPlan }
  | { type: 'progress'; text: string; part: number }
  | { type: 'figures'; figures: Figures }
  | { type: 'kernels'; times: KernelTimes | undefined }
  | { type: 'error'; code: ErrorCode; text: string };
