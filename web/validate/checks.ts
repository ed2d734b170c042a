// The checks of the page, each on an engine of its own: a module opens one model.
import wasmUrl from '../../build/wasm/zerotvm.wasm?url';
import type { GenerateRequest, LoadOptions, Progress } from '../api.ts';
import { askedOptions, type SiteModel } from '../chat/models.ts';
import { EngineClient } from '../client.ts';
import { EngineError } from '../errors.ts';
import { addCase, type Check, type Report, setLockstep } from './report.ts';

/** Choices closer than the arithmetic's noise may fall either way. */
const noiseF32 = 0.02;
const noiseF16 = 0.2;
const noiseInt8Kv = 0.3;
const nGreedyTokens = 32;

/** Tells the page how far the run is. */
export type Tell = (text: string, part?: number) => void;

async function withEngine(work: (engine: EngineClient) => Promise<void>): Promise<void> {
  const engine = await EngineClient.create(new URL(wasmUrl, location.href));
  const lost = new Promise<never>((_, reject) => (engine.onLost = reject));
  try {
    await Promise.race([work(engine), lost]);
  } finally {
    engine.close();
  }
}

export function describeAdapter(report: Report): Promise<void> {
  return withEngine(async (engine) => {
    report.about = await engine.about();
  });
}

export function checkKernels(report: Report, quickOnly: boolean, tell: Tell): Promise<void> {
  return withEngine(async (engine) => {
    await engine.selfTest(quickOnly, (outcome) => {
      addCase(report.checks, outcome);
      const { index, n_cases, kernel, name } = outcome;
      tell(`${kernel}: ${name}`, (index + 1) / n_cases);
    });
  });
}

export function checkOps(report: Report, model: SiteModel, tell: Tell): Promise<void> {
  return withEngine(async (engine) => {
    await load(engine, model, { lockstep: true }, tell);
    const check: Check = { name: 'model, op by op', compared: '', state: 'running' };
    report.checks.push(check);
    const last = await engine.lockstep((now) => {
      setLockstep(check, now, false);
      tell(`${model.name}: ${now.n_ops} ops compared`, now.n_different / now.n_recorded);
    });
    setLockstep(check, last, true);
  });
}

interface GoldenPrompt {
  name: string;
  ids: number[];
  greedy?: { tokens: number[]; margins: number[] };
}

/** The reference's greedy tokens, where the site has them for this model. */
export function checkGoldens(report: Report, model: SiteModel, url: string, tell: Tell): Promise<void> {
  return withEngine(async (engine) => {
    const response = await fetch(url);
    if (!response.ok) throw new EngineError('network', `The reference's answers are not at ${url} (${response.status}).`);
    const { prompts } = (await response.json()) as { prompts: GoldenPrompt[] };
    await load(engine, model, {}, tell);
    const int8Kv = askedOptions().kv === 'int8';
    const noise = int8Kv ? noiseInt8Kv : report.about?.kernel_set.includes('f16') ? noiseF16 : noiseF32;
    const check: Check = { name: int8Kv ? 'model, greedy ids with int8 keys and values' : 'model, greedy ids', compared: '', state: 'running' };
    report.checks.push(check);
    let nCompared = 0;
    for (const { name, ids, greedy } of prompts) {
      if (!greedy) continue;
      tell(`${model.name}: ${name}`);
      const close = greedy.margins.findIndex((margin) => margin < noise);
      const nDecided = close < 0 ? greedy.tokens.length : close;
      const got = await answer(engine, { ids, temperature: 0, max_tokens: nGreedyTokens, ignore_eos: true });
      const wrong = greedy.tokens.slice(0, nDecided).findIndex((token, i) => i < got.length && token !== got[i]);
      nCompared += Math.min(nDecided, got.length);
      check.compared = `${nCompared} ids`;
      if (wrong < 0) continue;
      check.state = 'wrong';
      check.problem ??= `${name}: token ${wrong} is ${got[wrong]}, expected ${greedy.tokens[wrong]}.`;
    }
    if (check.state === 'running') check.state = 'fine';
  });
}

async function load(engine: EngineClient, model: SiteModel, options: LoadOptions, tell: Tell): Promise<void> {
  const show = ({ stage, doneBytes, totalBytes }: Progress) => {
    if (stage === 'compiling') tell(`${model.name}: preparing the kernels`);
    else tell(`${model.name}: loading`, totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : undefined);
  };
  await engine.open(model.source, { ...askedOptions(), ...options }, show);
  await engine.load(show);
}

async function answer(engine: EngineClient, request: GenerateRequest): Promise<number[]> {
  const ids: number[] = [];
  for await (const event of engine.generate(request)) if (event.type === 'text') ids.push(...event.ids);
  return ids;
}
