// One measurement on a device and a module of its own, in a worker: the page ends it by ending the worker.
import { type Caps, openDevice } from '../adapter.ts';
import type { MemoryPlan } from '../api.ts';
import { asEngineError, EngineError } from '../errors.ts';
import type { GpuCounts } from '../gpu.ts';
import { WasmModule } from '../module.ts';
import { loadTuning, saveTuning } from '../tuning_store.ts';
import { refusal } from './fits.ts';
import type { BenchRequest, Figures, FromWorker, KernelTimes, ToWorker } from './types.ts';

/** Clocks with longer steps than this cannot time most kernels one by one. */
const coarseUs = 10;
const tellEveryMs = 50;

let toldAtMs = 0;

function send(message: FromWorker): void {
  postMessage(message);
}

function tell(text: string, part: number): void {
  const nowMs = performance.now();
  if (nowMs - toldAtMs < tellEveryMs) return;
  toldAtMs = nowMs;
  send({ type: 'progress', text, part });
}

interface Step {
  done: boolean;
  phase: 'stream' | 'prefill' | 'decode';
  depth_index: number;
  run: number;
  part: number;
}

function describe({ phase, depth_index, run }: Step, { depths, repeat }: BenchRequest): string {
  if (phase === 'stream') return 'Reading memory as fast as it goes';
  const times = run === 0 ? 'first run, not timed' : `run ${run} of ${repeat}`;
  return phase === 'prefill' ? `Prefill, ${times}` : `Decode at depth ${depths[depth_index]}, ${times}`;
}

function addCalls(sum: GpuCounts, from: GpuCounts, to: GpuCounts): void {
  for (const key of Object.keys(sum) as (keyof GpuCounts)[]) sum[key] += to[key] - from[key];
}

/** A request as the module takes it. */
function asText(request: BenchRequest, tuning: string): string {
  return JSON.stringify({ autotune: 'auto', ...request, tuning });
}

async function measureRates(module: WasmModule, device: GPUDevice, request: BenchRequest): Promise<Figures> {
  const tuning = await loadTuning();
  module.call('ztvm_bench_open', asText(request, tuning));
  await device.queue.onSubmittedWorkDone();
  while (!module.call<{ ready: boolean }>('ztvm_bench_ready').ready) {
    tell('Preparing the kernels', 0);
    await module.gpu.settled();
  }
  const { text } = module.call<{ text?: string }>('ztvm_tuning');
  if (text !== undefined && text !== tuning) await saveTuning(text);
  const none = Object.fromEntries(Object.keys(module.gpu.counts).map((key) => [key, 0])) as unknown as GpuCounts;
  const calls = request.depths.map(() => ({ ...none }));
  for (let before = { ...module.gpu.counts }; ; ) {
    const step = module.call<Step>('ztvm_bench_step');
    const after = { ...module.gpu.counts };
    if (step.phase === 'decode' && step.run > 0) addCalls(calls[step.depth_index]!, before, after);
    before = after;
    tell(describe(step, request), step.part);
    if (step.done) break;
    await module.gpu.settled();
  }
  const figures = module.call<Figures>('ztvm_bench_figures');
  figures.decode.forEach((figure, i) => (figure.webgpu_calls = calls[i]!));
  return figures;
}

async function timeKernels(module: WasmModule, device: GPUDevice, request: BenchRequest): Promise<KernelTimes> {
  module.call('ztvm_profile_open', asText(request, await loadTuning()));
  await device.queue.onSubmittedWorkDone();
  for (;;) {
    const step_us = module.gpu.clockStepUs ?? 0;
    const { done, part, ...times } = module.call<{ done: boolean; part: number } & Omit<KernelTimes, 'clock_step_us'>>(
      'ztvm_profile_step',
      step_us >= coarseUs ? 1 : 0,
    );
    if (done) return { ...times, clock_step_us: step_us };
    tell('Timing each kernel', part);
    await module.gpu.settled();
  }
}

/** Tells what the device is and what the model takes. Throws where that does not fit. */
function describePlan(module: WasmModule, caps: Caps, request: BenchRequest): void {
  const { set, why } = module.call<{ set: string; why: string }>('ztvm_kernel_set');
  send({ type: 'about', about: { adapter: caps, kernel_set: set, why } });
  const plan = module.call<MemoryPlan>('ztvm_bench_plan', JSON.stringify(request));
  send({ type: 'plan', plan });
  const tooLarge = refusal(plan, caps);
  if (tooLarge !== undefined) throw new EngineError('out_of_memory', tooLarge);
}

async function run({ task, wasmUrl, request }: ToWorker): Promise<FromWorker> {
  const { device, caps } = await openDevice(task === 'kernels');
  void device.lost.then(({ reason, message }) => {
    if (reason !== 'destroyed') fail(new EngineError('device_lost', `The graphics device was lost. ${message}`.trim()));
  });
  // The next measurement needs the memory.
  const ended = (message: FromWorker): FromWorker => {
    device.destroy();
    return message;
  };
  if (task === 'kernels' && !device.features.has('timestamp-query')) return ended({ type: 'kernels', times: undefined });
  const module = await WasmModule.load(wasmUrl, device);
  module.call('ztvm_init', JSON.stringify(caps));
  if (task === 'kernels') return ended({ type: 'kernels', times: await timeKernels(module, device, request) });
  describePlan(module, caps, request);
  send({ type: 'progress', text: 'Making random weights', part: 0 });
  return ended({ type: 'figures', figures: await measureRates(module, device, request) });
}

function fail(thrown: unknown): void {
  const { code, message: text } = asEngineError(thrown);
  send({ type: 'error', code, text });
}

addEventListener('unhandledrejection', ({ reason }) => fail(reason));

onmessage = ({ data }: MessageEvent<ToWorker>) => {
  run(data).then(send, fail);
};
