// What the browser tests call through page.evaluate(): the engine's parts without the chat page.
import wasmUrl from '../../../build/wasm/zerotvm.wasm?url';
import { openDevice } from '../../../web/adapter.ts';
import type { GenerateRequest, ModelSource } from '../../../web/api.ts';
import { EngineClient } from '../../../web/client.ts';
import { asEngineError } from '../../../web/errors.ts';
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
    worker.postMessage({ ...job, source: { ...job.source, url: new URL(job.source.url, location.href).href } });
  });
}

/** Loads a model, answers each request, and gives back all ids and texts, or the error's code and text. */
async function generateAll(source: ModelSource, requests: GenerateRequest[]): Promise<unknown> {
  try {
    const client = await EngineClient.create(new URL(wasmUrl, location.href));
    const loaded = await client.load(source, () => {});
    const answers = [];
    for (const request of requests) {
      const answer = { promptIds: [] as number[], ids: [] as number[], text: '', finish: '', timings: {} };
      for await (const event of client.generate(request)) {
        if (event.type === 'begin') answer.promptIds = event.promptIds;
        if (event.type === 'text') {
          answer.ids.push(...event.ids);
          answer.text += event.text;
        }
        if (event.type === 'end') Object.assign(answer, { finish: event.finish, timings: event.timings });
      }
      answers.push(answer);
    }
    client.close();
    return { loaded, answers };
  } catch (error) {
    const { code, message } = asEngineError(error);
    return { error: { code, text: message } };
  }
}

const makeGpuBench = async () => {
  const { device, caps } = await openDevice();
  return { bench: new GpuBench(device), caps };
};

export const lab = { runStorage, generateAll, makeGpuBench };
(globalThis as { lab?: typeof lab }).lab = lab;
