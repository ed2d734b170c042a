// The report as tables, and as text to paste.
import { describePlan } from '../chat/memory.ts';
import { formatBytes, make } from '../chat/dom.ts';
import { facts } from '../validate/report.ts';
import type { DecodeFigure, KernelTime, Report, Samples } from './types.ts';

/** Below that a kernel does something else than reading weights. */
const minWeightBytes = 2 ** 20;

interface Table {
  head: string[];
  rows: string[][];
}

function rate(samples: Samples): string {
  return `${samples.median.toPrecision(samples.median < 1000 ? 3 : 4)} ± ${Math.round(50 * samples.spread)} %`;
}

export function factsOf(report: Report): [string, string][] {
  const { user_agent: browser, about, memory_plan, stream_gb_per_s, prefill, forms, request } = report;
  const layers = request.layers === undefined ? '' : `, ${request.layers} layer${request.layers === 1 ? '' : 's'}`;
  const list = facts({ browser, about, model: `${request.model}${layers}, random weights${request.kv ? `, ${request.kv} KV cache` : ''}`, checks: [] });
  if (memory_plan) list.push(['Memory', describePlan(memory_plan).replace(/ Up to .*$/, '')]);
  const nShapes = Object.keys(forms ?? {}).length;
  if (nShapes > 0) list.push(['Autotune', `the fastest forms of kernels for ${nShapes} shape${nShapes === 1 ? '' : 's'}`]);
  if (stream_gb_per_s !== undefined) list.push(['Streaming read', `${stream_gb_per_s.toFixed(1)} GB/s`]);
  if (prefill) {
    const ttft = `first token after ${prefill.ttft_ms.median.toFixed(1)} ms`;
    list.push([`Prefill of ${prefill.n_tokens}`, `${rate(prefill.tokens_per_s)} tokens/s, ${ttft}`]);
  }
  return list;
}

/** What the engine asks for is made by these calls. */
function created({ webgpu_calls: calls }: DecodeFigure): number {
  return calls.createBuffer + calls.createBindGroup + calls.createPipeline;
}

export function decodeTable({ decode }: Report): Table {
  const head = ['Depth', 'Tokens/s', 'With prompt', 'First token', 'GB/s', 'Of stream'];
  const rows = (decode ?? []).map((one) => [
    String(one.depth),
    rate(one.tokens_per_s),
    one.total_tokens_per_s.median.toPrecision(3),
    `${one.ttft_ms.median.toFixed(1)} ms`,
    one.gb_per_s.toPrecision(3),
    `${(100 * one.share_of_stream).toFixed(1)} %`,
  ]);
  return { head, rows };
}

export function costTable({ decode }: Report): Table {
  const head = ['Depth', 'Reads', 'Dispatches', 'Submits', 'Host', 'Created'];
  const rows = (decode ?? []).map((one) => [
    String(one.depth),
    formatBytes(one.bytes_per_token),
    String(one.dispatches_per_token),
    String(one.submits_per_token),
    `${one.host_ms_per_token.toFixed(2)} ms`,
    String(created(one)),
  ]);
  return { head, rows };
}

export function kernelTable(times: KernelTime[] | undefined, streamGbPerS: number): Table {
  const total = (times ?? []).reduce((sum, { ms }) => sum + ms, 0);
  const head = ['Kernel', 'Number', 'us each', 'Share', 'GB/s', 'Of stream'];
  const rows = (times ?? []).map(({ name, n_ops, ms, n_bytes }) => {
    const gbPerS = n_bytes / ms / 1e6;
    // A rate above what memory gives is not shown: the clock was too rough for it, or a cache has the weights.
    const hasRate = n_bytes >= minWeightBytes && gbPerS <= streamGbPerS;
    const rates = hasRate ? [gbPerS.toPrecision(3), `${((100 * gbPerS) / streamGbPerS).toFixed(1)} %`] : ['', ''];
    return [name, String(n_ops), ((1000 * ms) / n_ops).toFixed(1), `${((100 * ms) / total).toFixed(1)} %`, ...rates];
  });
  return { head, rows };
}

export function show(element: HTMLElement, { head, rows }: Table): void {
  element.closest<HTMLElement>('section')!.hidden = rows.length === 0;
  const cell = (tag: 'td' | 'th', text: string, i: number) => make(tag, i === 0 ? '' : 'number', text);
  const columns = head.map((text, i) => Object.assign(cell('th', text, i), { scope: 'col' }));
  element.replaceChildren(
    make('thead', '', make('tr', '', ...columns)),
    make('tbody', '', ...rows.map((row) => make('tr', '', ...row.map((text, i) => cell('td', text, i))))),
  );
}

function lines({ head, rows }: Table): string[] {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  return [head, ...rows].map((row) => `  ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join('  ')}`);
}

export function asText(report: Report): string {
  const all = ['Zero TVM bench', '', ...factsOf(report).map(([name, value]) => `${name.padEnd(16)} ${value}`)];
  const stream = report.stream_gb_per_s ?? 0;
  const add = (title: string, table: Table) => {
    if (table.rows.length > 0) all.push('', title, ...lines(table));
  };
  add(`Decode of ${report.request.gen_tokens} tokens`, decodeTable(report));
  add('What a token takes', costTable(report));
  add('Kernels of a decoded token', kernelTable(report.decode_kernels, stream));
  add('Kernels of a prefill chunk', kernelTable(report.prefill_kernels, stream));
  if (report.clock_note !== undefined) all.push('', report.clock_note);
  if (report.failure !== undefined) all.push('', report.failure);
  return `${all.join('\n')}\n`;
}
