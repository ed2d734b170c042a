// The card above the composer: offers the model, shows its download, and says what is wrong and what to do.
import type { Progress } from '../api.ts';
import { EngineError } from '../errors.ts';
import { byId, formatBytes, formatSeconds } from './dom.ts';

const card = byId('card');
const title = byId('card-title');
const text = byId('card-text');
const detail = byId('card-detail');
const bar = byId<HTMLProgressElement>('card-progress');
const action = byId<HTMLButtonElement>('card-action');

interface Content {
  kind: 'offer' | 'busy' | 'failure';
  title: string;
  text: string;
  /** More, in small print. */
  detail?: string;
  /** Done part of 1; absent: no bar. */
  progress?: number;
  action?: { label: string; run: () => void };
}

export function showCard(content: Content): void {
  card.hidden = false;
  // Read out whole, a download's figures would never end.
  card.setAttribute('aria-live', content.kind === 'busy' ? 'off' : 'polite');
  card.dataset['kind'] = content.kind;
  title.textContent = content.title;
  text.textContent = content.text;
  detail.textContent = content.detail ?? '';
  detail.hidden = !content.detail;
  bar.hidden = content.progress === undefined;
  bar.value = content.progress ?? 0;
  action.hidden = !content.action;
  action.textContent = content.action?.label ?? '';
  action.onclick = content.action?.run ?? null;
}

export function hideCard(): void {
  card.hidden = true;
}

/** Shows a load as it goes on: how much, how fast, how long still. */
export function loadReporter(modelName: string, detail?: string): (progress: Progress) => void {
  const startMs = performance.now();
  let firstBytes = 0;
  const show = (text: string, progress?: number) =>
    showCard({
      kind: 'busy',
      title: modelName,
      text,
      ...(detail ? { detail } : {}),
      ...(progress === undefined ? {} : { progress }),
    });
  return ({ stage, from, doneBytes, totalBytes }) => {
    if (stage === 'opening') return show(`Reading what the model needs: ${formatBytes(doneBytes)}`);
    if (stage === 'compiling') return show('Preparing the kernels for your GPU …', 1);
    firstBytes ||= doneBytes;
    const seconds = (performance.now() - startMs) / 1000;
    const bytesPerSecond = (doneBytes - firstBytes) / Math.max(seconds, 0.001);
    const parts = [`${formatBytes(Math.min(doneBytes, totalBytes))} of ${formatBytes(totalBytes)}`];
    if (seconds > 0.5 && bytesPerSecond > 0) {
      parts.push(`${formatBytes(bytesPerSecond)}/s`);
      parts.push(`${formatSeconds(Math.max(0, totalBytes - doneBytes) / bytesPerSecond)} left`);
    }
    show(`${verbs[from]}: ${parts.join(' · ')}`, Math.min(1, doneBytes / totalBytes));
  };
}

const verbs: Record<Progress['from'], string> = {
  storage: 'Loading from this browser',
  cache: 'Loading from WebLLM’s cache in this browser',
  server: 'Downloading',
  network: 'Downloading',
};

/** What a person can do about each failure; the error itself says what happened. */
export function showFailure(error: EngineError, retry: () => void, opening = false): void {
  const titles: Partial<Record<typeof error.code, string>> = {
    no_webgpu: 'This browser has no WebGPU',
    no_adapter: 'No graphics adapter was found',
    device_lost: 'The GPU went away',
    out_of_memory: 'There is not enough graphics memory',
    network: 'The model could not be downloaded',
    not_found: 'The model was not found',
    invalid_argument: 'That cannot be done',
    unsupported: 'This model is not supported',
    corrupt_file: 'The model’s files are not as they should be',
    context_full: 'The conversation is full',
  };
  const advice: Partial<Record<typeof error.code, string>> = {
    no_webgpu: 'Open this page in a current Chrome, Edge, Safari or Firefox, on a computer or phone with a GPU.',
    no_adapter: 'Switch on hardware acceleration in the browser’s settings, update the graphics driver, and restart it.',
    device_lost: 'Reload the engine to go on; your conversation is kept. If it happens again, close other heavy tabs.',
    out_of_memory: 'Close other tabs and programs that use the GPU, then reload the engine.',
    network: 'Check the connection; what was downloaded is kept, and the rest goes on from there.',
  };
  // What is refused before any weight was read is not for lack of free memory.
  const tooLarge = opening && error.code === 'out_of_memory';
  const smaller = 'Choose a smaller model, or a smaller context with ?ctx= or a smaller KV cache with ?kv=int8 in the address.';
  showCard({
    kind: 'failure',
    title: tooLarge ? 'This model does not fit your GPU' : (titles[error.code] ?? 'The engine stopped'),
    text: [error.message, tooLarge ? smaller : advice[error.code]].filter((part) => part).join(' '),
    action: { label: error.code === 'device_lost' ? 'Reload the engine' : 'Try again', run: retry },
  });
}
