// What a run found, as data and as text to attach to an issue.
import type { About, CaseOutcome, LockstepReport } from '../api.ts';

/** One line of the table. */
export interface Check {
  name: string;
  /** "12 cases", "640 ops". */
  compared: string;
  state: 'running' | 'fine' | 'wrong';
  /** The first that is wrong. */
  problem?: string;
}

export interface Report {
  browser: string;
  about: About | undefined;
  model: string | undefined;
  checks: Check[];
  /** What ended the run early. */
  failure?: string;
}

/** Adds a case to its kernel's line. */
export function addCase(checks: Check[], { kernel, name, mismatch, error }: CaseOutcome): void {
  let check = checks.find((one) => one.name === kernel);
  if (!check) {
    check = { name: kernel, compared: '0 cases', state: 'fine' };
    checks.push(check);
  }
  const n = Number.parseInt(check.compared) + 1;
  check.compared = `${n} case${n === 1 ? '' : 's'}`;
  const problem = error ?? mismatch;
  if (problem === undefined || check.state === 'wrong') return;
  check.state = 'wrong';
  check.problem = `${name}: ${problem}`;
}

export function setLockstep(check: Check, { n_ops, n_different, mismatch }: LockstepReport, isOver: boolean): void {
  check.compared = `${n_ops} ops, ${n_different} different`;
  check.state = mismatch ? 'wrong' : isOver ? 'fine' : 'running';
  if (mismatch) check.problem = mismatch;
}

export function isFine({ checks, failure }: Report): boolean {
  return failure === undefined && checks.length > 0 && checks.every(({ state }) => state === 'fine');
}

export function verdict(report: Report): string {
  if (report.failure !== undefined) return `The check did not end: ${report.failure}`;
  if (isFine(report)) return 'Everything agrees with its reference.';
  const wrong = report.checks.filter(({ state }) => state === 'wrong').map(({ name }) => name);
  return `Wrong results: ${wrong.join(', ')}. Please attach the report to an issue.`;
}

/** Name and value of each fact about the adapter. */
export function facts({ browser, about, model }: Report): [string, string][] {
  const list: [string, string][] = [];
  if (about) {
    const { adapter: caps, kernel_set, why } = about;
    const subgroups = caps.subgroups ? `${caps.subgroup_min} to ${caps.subgroup_max} lanes` : 'no';
    const mib = (nBytes: number) => `${Math.round(nBytes / 2 ** 20)} MiB`;
    list.push(['Adapter', `${caps.adapter} (${caps.kind === 'cpu' ? 'CPU' : 'GPU'})`], ['Driver', caps.driver]);
    const yes = (has: boolean) => (has ? 'yes' : 'no');
    const features = `shader-f16 ${yes(caps.f16)}, subgroups ${subgroups}, subgroup matrices ${yes(caps.subgroup_matrix)}`;
    list.push(['Features', features]);
    list.push(['Limits', `buffer ${mib(caps.max_buffer_bytes)}, binding ${mib(caps.max_binding_bytes)}`]);
    list.push(['Kernel set', `${kernel_set}. ${why}`]);
  }
  list.push(['Browser', browser]);
  if (model !== undefined) list.push(['Model', model]);
  return list;
}

export function asText(report: Report): string {
  const lines = ['Zero TVM validate', ''];
  for (const [name, value] of facts(report)) lines.push(`${name.padEnd(12)} ${value}`);
  lines.push('');
  for (const { name, compared, state, problem } of report.checks) {
    lines.push(`  ${name.padEnd(18)} ${compared.padEnd(24)} ${state === 'fine' ? 'agree' : state.toUpperCase()}`);
    if (problem) lines.push(`    ${problem}`);
  }
  lines.push('', verdict(report), '');
  return lines.join('\n');
}
