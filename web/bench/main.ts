// The bench page: choose what is measured, run it, read the tables, take the report along.
import { byId, connectCopy, make } from '../chat/dom.ts';
import { memoryWarning } from '../chat/memory.ts';
import { keepSite } from '../chat/offline.ts';
import { asEngineError } from '../errors.ts';
import { handOver, log } from './harness.ts';
import { addressOf, type Fields, fieldsOf, requestOf, shapes } from './options.ts';
import { runBench } from './run.ts';
import { asText, costTable, decodeTable, factsOf, kernelTable, show } from './tables.ts';
import type { Report } from './types.ts';

const form = byId<HTMLFormElement>('form');
const kernels = byId<HTMLInputElement>('kernels');
const runButton = byId<HTMLButtonElement>('run');
const cancelButton = byId<HTMLButtonElement>('cancel');
const status = byId('status');
const progress = byId<HTMLProgressElement>('progress');

let report: Report | undefined;

function inputs(): Record<keyof Fields, HTMLInputElement | HTMLSelectElement> {
  const ids = ['model', 'layers', 'depth', 'prompt', 'gen', 'kv', 'repeat', 'autotune'] as const;
  return Object.fromEntries(ids.map((id) => [id, byId(id)])) as ReturnType<typeof inputs>;
}

function readFields(): Fields {
  return Object.fromEntries(Object.entries(inputs()).map(([id, input]) => [id, input.value.trim()])) as Fields;
}

function setState(state: 'idle' | 'running' | 'done' | 'failed', text: string): void {
  document.body.dataset['state'] = state;
  status.textContent = text;
  // Read out whole, the runs would never end; how it ends is read.
  status.setAttribute('aria-live', state === 'running' ? 'off' : 'polite');
  progress.hidden = state !== 'running';
  cancelButton.hidden = state !== 'running';
  for (const input of [...Object.values(inputs()), kernels, runButton]) input.disabled = state === 'running';
}

function tell(text: string, part: number): void {
  const words = `${text} …`;
  if (status.textContent !== words) log(words);
  status.textContent = words;
  progress.value = part;
}

function showReport(): void {
  if (!report) return;
  byId('results').hidden = false;
  byId('about').replaceChildren(...factsOf(report).flatMap(([name, value]) => [make('dt', '', name), make('dd', '', value)]));
  const stream = report.stream_gb_per_s ?? 0;
  show(byId('decode'), decodeTable(report));
  show(byId('cost'), costTable(report));
  show(byId('decode-kernels'), kernelTable(report.decode_kernels, stream));
  show(byId('prefill-kernels'), kernelTable(report.prefill_kernels, stream));
  byId('warning').textContent = (report.memory_plan && memoryWarning(report.memory_plan)) ?? '';
  byId('clock-note').textContent = report.clock_note ?? '';
}

async function run(): Promise<void> {
  const fields = readFields();
  const aborter = new AbortController();
  cancelButton.onclick = () => aborter.abort();
  try {
    const request = requestOf(fields);
    report = { user_agent: navigator.userAgent, request };
    history.replaceState(undefined, '', `${location.pathname}${addressOf(fields, kernels.checked)}`);
    setState('running', 'Looking for your GPU …');
    progress.removeAttribute('value');
    showReport();
    await runBench(report, kernels.checked, aborter.signal, {
      changed: showReport,
      progress: tell,
    });
    setState('done', 'Done.');
  } catch (error) {
    const { message } = asEngineError(error);
    setState('failed', message);
    if (report) report.failure = message;
  }
  showReport();
  byId('report').textContent = report ? asText(report) : '';
  await handOver(report ?? { failure: status.textContent });
}

function download(): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(report, undefined, 2)}\n`], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: `zerotvm-bench-${report!.request.model}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function start(): void {
  const params = new URLSearchParams(location.search);
  const asked = fieldsOf(params);
  byId('model').replaceChildren(...shapes.map(({ alias, name }) => new Option(`${name} (${alias})`, alias)));
  for (const [id, input] of Object.entries(inputs())) input.value = asked[id as keyof Fields];
  kernels.checked = params.get('kernels') !== '0';
  connectCopy(byId<HTMLButtonElement>('copy-text'), () => (report ? asText(report) : ''));
  connectCopy(byId<HTMLButtonElement>('copy-json'), () => JSON.stringify(report, undefined, 2));
  byId('download').onclick = download;
  form.onsubmit = (event) => {
    event.preventDefault();
    void run();
  };
  setState('idle', '');
  // What is not in a list is told by run().
  for (const id of ['model', 'kv', 'autotune'] as const) {
    if (byId<HTMLSelectElement>(id).value === '') byId(id).append(new Option(asked[id], asked[id], true, true));
  }
  if (params.get('run') === '1') void run();
  // Storing the site would be measured along.
  else keepSite();
}

start();
