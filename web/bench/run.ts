// Runs the measurements, one worker after the other, and fills the report.
import wasmUrl from '../../build/wasm/zerotvm.wasm?url';
import { EngineError } from '../errors.ts';
import type { BenchRequest, FromWorker, Report, Task, ToWorker } from './types.ts';

export interface Told {
  /** The report has more than before. */
  changed(): void;
  progress(text: string, part: number): void;
}

const noTimestamps = 'This adapter or browser has no timestamp queries, so that kernels cannot be timed one by one.';

function coarseNote(stepUs: number): string {
  return (
    `This browser's clock for the GPU has steps of ${stepUs.toFixed(1)} us, longer than most kernels take: the times are ` +
    'means over 60 passes, and rough. Chromium has finer steps with --enable-webgpu-developer-features.'
  );
}

/** Fills `report`; fails with what ended the run early. `withKernels`: also times each kernel. */
export async function runBench(report: Report, withKernels: boolean, signal: AbortSignal, told: Told): Promise<void> {
  const { request } = report;
  await runTask('rates', request, signal, (message) => {
    if (message.type === 'progress') return told.progress(message.text, message.part);
    if (message.type === 'about') report.about = message.about;
    if (message.type === 'plan') report.memory_plan = message.plan;
    if (message.type === 'figures') Object.assign(report, message.figures);
    told.changed();
  });
  if (!withKernels) return;
  await runTask('kernels', request, signal, (message) => {
    if (message.type === 'progress') return told.progress(message.text, message.part);
    if (message.type !== 'kernels') return;
    const { times } = message;
    if (!times) report.clock_note = noTimestamps;
    else if (times.clock_step_us >= 10) report.clock_note = coarseNote(times.clock_step_us);
    Object.assign(report, times ?? {});
    told.changed();
  });
}

/** Ends when the worker has told its result. */
function runTask(task: Task, request: BenchRequest, signal: AbortSignal, onMessage: (message: FromWorker) => void): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  return new Promise<void>((resolve, reject) => {
    const cancel = () => reject(new EngineError('invalid_argument', 'The measurement was cancelled.'));
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel);
    worker.onerror = ({ message }) => reject(new EngineError('internal', `The worker failed: ${message || 'it did not start'}.`));
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === 'error') return reject(new EngineError(data.code, data.text));
      onMessage(data);
      if (data.type === 'figures' || data.type === 'kernels') resolve();
    };
    const start: ToWorker = { task, wasmUrl: new URL(wasmUrl, location.href).href, request };
    worker.postMessage(start);
  }).finally(() => worker.terminate());
}
