// What the browser tests call through page.evaluate(): the engine's parts without the chat page.
import wasmUrl from '../../../build/wasm/zerotvm.wasm?url';
import { openDevice } from '../../../web/adapter.ts';
import type { GenerateRequest, LoadOptions, ModelSource } from '../../../web/api.ts';
import { EngineClient } from '../../../web/client.ts';
import { Engine } from '../../../web/engine.ts';
import { asEngineError } from '../../../web/errors.ts';
import { deleteStored, listStored } from '../../../web/stored_models.ts';
import { loadTuning } from '../../../web/tuning_store.ts';
import { GpuBench } from './gpu_bench.ts';
import type { StorageJob } from './storage_worker.ts';

/** Runs one storage job in a fresh worker, as each visit of a page does. */
function runStorage(job: StorageJob): Promise<unknown> {
  const worker = new Worker(new URL('./storage_worker.ts', import.meta.url), { type: 'module' });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    const source = { ...job.source, url: new URL(job.source.url, location.href).href };
    if (source.local) source.local = { ...source.local, url: new URL(source.local.url, location.href).href };
    worker.postMessage({ ...job, source });
  });
}

/** `onlyBegin` leaves when the prompt's ids are known. */
type LabRequest = GenerateRequest & { onlyBegin?: boolean };

/** Loads a model, answers each request, and gives back all ids and texts, or the error's code and text. */
async function generateAll(source: ModelSource, requests: LabRequest[], options = {}): Promise<unknown> {
  try {
    const client = await EngineClient.create(new URL(wasmUrl, location.href));
    const plan = await client.open(source, options, () => {});
    const loaded = await client.load(() => {});
    const answers = [];
    for (const { onlyBegin, ...request } of requests) {
      const answer = { promptIds: [] as number[], ids: [] as number[], text: '', finish: '', timings: {} };
      for await (const event of client.generate(request)) {
        if (event.type === 'begin') answer.promptIds = event.promptIds;
        if (onlyBegin) break;
        if (event.type === 'text') {
          answer.ids.push(...event.ids);
          answer.text += event.text;
        }
        if (event.type === 'end') Object.assign(answer, { finish: event.finish, timings: event.timings });
      }
      answers.push(answer);
    }
    client.close();
    return { plan, loaded, answers };
  } catch (error) {
    const { code, message } = asEngineError(error);
    return { error: { code, text: message } };
  }
}

interface GoldenPrompt {
  ids: number[];
  nTokens: number;
  /** Hidden states are asked for, too. */
  hidden: boolean;
}

interface Inside {
  logits: number[];
  /** Of each layer its rows, one behind the other. */
  hidden: number[][];
  ids: number[];
}

/** An engine in this thread: of each prompt what is inside the model after it, and what follows greedily. */
async function probeModel(source: ModelSource, prompts: GoldenPrompt[], options: LoadOptions = {}): Promise<Inside[]> {
  const engine = await Engine.create(new URL(wasmUrl, location.href));
  try {
    await engine.open(source, options, () => {});
    await engine.load(() => {});
    const results = [];
    for (const { ids, nTokens, hidden } of prompts) {
      const inside: Inside = { logits: [], hidden: [], ids: [] };
      for await (const { layer, values } of engine.probe(ids, hidden)) {
        if (layer === undefined) inside.logits.push(...values);
        else (inside.hidden[layer] ??= []).push(...values);
      }
      inside.ids = await follow(engine, ids, nTokens);
      results.push(inside);
    }
    return results;
  } finally {
    engine.close();
  }
}

async function follow(engine: Engine, ids: number[], nTokens: number): Promise<number[]> {
  const answer: number[] = [];
  const request = { ids, max_tokens: nTokens, ignore_eos: true, temperature: 0 };
  for await (const event of engine.generate(request)) if (event.type === 'text') answer.push(...event.ids);
  return answer;
}

/** The forms that an engine has taken from earlier visits when a model's headers are read. */
async function tuningAfterOpen(source: ModelSource, options: LoadOptions): Promise<string> {
  const engine = await Engine.create(new URL(wasmUrl, location.href));
  try {
    await engine.open(source, options, () => {});
    return engine['module'].call<{ text?: string }>('ztvm_tuning').text ?? '';
  } finally {
    engine.close();
  }
}

const makeGpuBench = async () => {
  const { device, caps } = await openDevice();
  return { bench: new GpuBench(device), caps };
};

/** Puts what the server answers, or a text, into a cache as WebLLM does. */
async function putCached(cacheName: string, url: string, text?: string): Promise<void> {
  const body = text ?? (await (await fetch(url)).blob());
  const cache = await caches.open(cacheName);
  await cache.put(url, new Response(body, { headers: { Vary: 'Origin' } }));
}

export const lab = { runStorage, generateAll, probeModel, tuningAfterOpen, makeGpuBench, putCached, listStored, deleteStored, loadTuning };
(globalThis as { lab?: typeof lab }).lab = lab;
