// The chat page: connects the engine, the conversation and the controls.
import wasmUrl from '../../build/wasm/zerotvm.wasm?url';
import type { FinishReason, LoadedModel, MemoryPlan } from '../api.ts';
import { EngineClient } from '../client.ts';
import { asEngineError, EngineError } from '../errors.ts';
import { hideCard, loadReporter, showCard, showFailure } from './card.ts';
import { loadSettings, loadTurns, saveSettings, saveTurns, type Turn } from './conversation.ts';
import { byId, formatAbout } from './dom.ts';
import { AnswerView, showTurn, showTurns } from './messages.ts';
import { askToPersist, describePlan, memoryWarning, storageWarning } from './memory.ts';
import { askedOptions, findModel, listModels, type SiteModel } from './models.ts';
import { keepSite } from './offline.ts';
import { fillPicker, modelSelect, openPicker, sizeOf } from './picker.ts';
import { connectSettings } from './settings_panel.ts';
import { finalStats, speed } from './stats.ts';
import { connectStored } from './stored_list.ts';

type State = 'starting' | 'idle' | 'loading' | 'ready' | 'answering' | 'failed';

const composer = byId<HTMLFormElement>('composer');
const prompt = byId<HTMLTextAreaElement>('prompt');
const sendButton = byId<HTMLButtonElement>('send');
const stopButton = byId<HTMLButtonElement>('stop');
const newChatButton = byId<HTMLButtonElement>('new-chat');
const status = byId('status');

const settings = loadSettings();
const turns = loadTurns();
let models: SiteModel[] = [];
let client: EngineClient | undefined;
/** Counts calls of start(): of two at once, the later one goes on. */
let nStarts = 0;
let state: State = 'starting';
/** The person pressed Enter before the model was there. */
let sendWhenReady = false;
/** What the card's button does while the model waits to be loaded. */
let goOn: () => Promise<void> = load;
/** The answer that is being made, and its text so far. */
let answering: Promise<void> | undefined;
let answerText = '';

function setState(next: State, statusText: string): void {
  state = next;
  document.body.dataset['state'] = next;
  status.textContent = statusText;
  showStop(next === 'answering');
  byId('welcome').hidden = turns.length > 0 || next === 'answering';
  modelSelect.disabled = next === 'answering';
  newChatButton.disabled = turns.length === 0 && next !== 'answering';
  updateSendButton();
}

/** Send and Stop take each other's place; who came there by keyboard keeps a focus. */
function showStop(isAnswering: boolean): void {
  const hadFocus = (button: HTMLElement) => button === document.activeElement && button.matches(':focus-visible');
  const fromSend = hadFocus(sendButton);
  const fromStop = hadFocus(stopButton);
  stopButton.hidden = !isAnswering;
  sendButton.hidden = isAnswering;
  if (isAnswering && fromSend) stopButton.focus();
  if (!isAnswering && fromStop) prompt.focus();
}

function updateSendButton(): void {
  sendButton.disabled = prompt.value.trim() === '' || state === 'failed';
}

function fail(thrown: unknown, opening = false): void {
  sendWhenReady = false;
  const error = asEngineError(thrown);
  if (error.code === 'context_full') {
    setState('ready', status.textContent ?? '');
    showCard({
      kind: 'failure',
      title: 'The conversation is full',
      text: `${error.message} Start a new chat, or write less.`,
      action: { label: 'New chat', run: () => void newChat() },
    });
    return;
  }
  setState('failed', '');
  showFailure(error, () => void start(), opening);
}

/** Makes a fresh engine; also the way back after a failure. */
async function start(): Promise<void> {
  const mine = ++nStarts;
  client?.close();
  client = undefined;
  hideCard();
  setState('starting', 'Looking for your GPU …');
  const found = await listModels();
  if (mine !== nStarts) return;
  models = found;
  try {
    fillPicker(models, settings.model);
  } catch (error) {
    setState('failed', '');
    showCard({
      kind: 'failure',
      title: 'There is no such model here',
      text: asEngineError(error).message,
      action: { label: 'Choose a model', run: openPicker },
    });
    return;
  }
  try {
    const engine = await EngineClient.create(new URL(wasmUrl, location.href));
    if (mine !== nStarts) return engine.close();
    client = engine;
    client.onLost = fail;
    if (settings.loaded.includes(chosenModel().alias) || sendWhenReady) await load();
    else offerModel();
  } catch (error) {
    if (mine === nStarts) fail(error);
  }
}

function chosenModel(): SiteModel {
  return findModel(models, modelSelect.value);
}

function offerModel(): void {
  const model = chosenModel();
  goOn = load;
  setState('idle', 'The model is loaded once and then kept in this browser.');
  const memory = model.memoryBytes > 0 ? ` · about ${formatAbout(model.memoryBytes)} of GPU memory` : '';
  showCard({
    kind: 'offer',
    title: model.name,
    text: `${sizeOf(model)} to download${memory}`,
    ...(model.about ? { detail: model.about } : {}),
    action: { label: 'Load model', run: () => void load() },
  });
}

/** Reads the headers, says what the model takes, and goes on unless that may be too much. */
async function load(): Promise<void> {
  const model = chosenModel();
  const engine = client!;
  setState('loading', `Loading ${model.name} …`);
  if (!settings.askedToPersist) {
    settings.askedToPersist = true;
    saveSettings(settings);
    void askToPersist().catch(() => {});
  }
  let plan: MemoryPlan;
  try {
    plan = await engine.open(model.source, askedOptions(), loadReporter(model.name));
  } catch (error) {
    // Choosing another model closes this engine, which is no failure.
    if (engine === client) fail(error, true);
    return;
  }
  if (engine !== client) return;
  const isKnown = settings.loaded.includes(model.alias);
  const noRoom = isKnown ? undefined : await storageWarning(plan.read_bytes);
  if (engine !== client) return;
  const detail = [describePlan(plan), noRoom].filter((part) => part).join(' ');
  const warning = memoryWarning(plan);
  const rest = () => loadWeights(model, engine, detail);
  if (!warning || isKnown) return rest();
  goOn = rest;
  setState('idle', '');
  const action = { label: 'Load anyway', run: () => void rest() };
  showCard({ kind: 'offer', title: `${model.name} is large`, text: warning, detail, action });
}

async function loadWeights(model: SiteModel, engine: EngineClient, detail: string): Promise<void> {
  setState('loading', `Loading ${model.name} …`);
  try {
    const loaded = await engine.load(loadReporter(model.name, detail));
    // What is not kept is not downloaded again unasked.
    if (!loaded.note) settings.loaded = [...new Set([...settings.loaded, model.alias])];
    saveSettings(settings);
    hideCard();
    setState('ready', describeModel(loaded));
    // The card's button is gone, and its focus with it. On a touch screen a focus would open the keyboard.
    if (document.activeElement === document.body && matchMedia('(pointer: fine)').matches) prompt.focus();
    if (sendWhenReady) answering = send();
  } catch (error) {
    if (engine === client) fail(error);
  }
}

function describeModel({ adapter, isSoftware, contextTokens, note }: LoadedModel): string {
  const where = `Runs on ${adapter}${isSoftware ? ', a CPU, so slowly' : ''}`;
  return [where, `${contextTokens} tokens of context`, note].filter((part) => part).join(' · ');
}

async function send(): Promise<void> {
  sendWhenReady = false;
  const content = prompt.value.trim();
  if (content === '') return;
  const readyStatus = status.textContent ?? '';
  prompt.value = '';
  fitPrompt();
  turns.push({ role: 'user', content });
  saveTurns(turns);
  showTurn(turns.at(-1)!);
  hideCard();
  setState('answering', readyStatus);
  const view = new AnswerView();
  answerText = '';
  try {
    const { finish, ...answer } = await makeAnswer(view);
    if (finish === 'interrupted' && answer.content === '') {
      takeBack(view, content);
    } else {
      turns.push(answer);
      view.finish(answer);
    }
    setState('ready', readyStatus);
  } catch (error) {
    keepAfterFailure(view, content);
    fail(error);
  }
  answerText = '';
  saveTurns(turns);
}

async function makeAnswer(view: AnswerView): Promise<Turn & { finish: FinishReason }> {
  const startMs = performance.now();
  let firstMs = 0;
  let nTokens = 0;
  const messages = turns.map(({ role, content }) => ({ role, content }));
  const options = { temperature: settings.temperature, max_tokens: settings.maxTokens, seed: newSeed() };
  for await (const event of client!.generate({ messages, ...options })) {
    if (event.type === 'text') {
      firstMs ||= performance.now();
      nTokens += event.ids.length;
      answerText += event.text;
      view.update(answerText, speed(nTokens, performance.now() - firstMs, firstMs - startMs));
    } else if (event.type === 'end') {
      const { finish, timings } = event;
      return { role: 'assistant', content: answerText, stats: finalStats(finish, timings), finish };
    }
  }
  throw new EngineError('internal', 'The engine ended the answer without a word.');
}

/** A part of an answer stays. */
function keepAfterFailure(view: AnswerView, content: string): void {
  if (answerText === '') {
    takeBack(view, content);
    return;
  }
  const answer: Turn = { role: 'assistant', content: answerText, stats: 'broken off by an error' };
  turns.push(answer);
  view.finish(answer);
}

/** A message without any answer goes back to where it was written. */
function takeBack(view: AnswerView, content: string): void {
  view.remove();
  turns.pop();
  showTurns(turns);
  // What was written meanwhile stays.
  prompt.value = [content, prompt.value].filter((text) => text).join('\n');
  fitPrompt();
}

function newSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}

/** Stops a running answer first: its last words belong to the old conversation. */
async function newChat(): Promise<void> {
  client?.stop();
  await answering;
  turns.length = 0;
  saveTurns(turns);
  showTurns(turns);
  if (state === 'ready') hideCard();
  setState(state, status.textContent ?? '');
  prompt.focus();
}

function fitPrompt(): void {
  prompt.style.height = 'auto';
  prompt.style.height = `${prompt.scrollHeight}px`;
  prompt.style.overflowY = prompt.scrollHeight > prompt.clientHeight ? 'auto' : 'hidden';
  updateSendButton();
}

function submit(): void {
  if (prompt.value.trim() === '') return;
  if (state === 'ready') answering = send();
  if (state === 'starting' || state === 'idle' || state === 'loading') sendWhenReady = true;
  if (state === 'idle') void goOn();
}

function connectControls(): void {
  composer.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  prompt.oninput = fitPrompt;
  prompt.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  document.addEventListener('keydown', ({ key, isComposing }) => {
    // Escape closes the settings first.
    const isMeant = !isComposing && !byId('settings').matches(':popover-open');
    if (key === 'Escape' && isMeant && state === 'answering') client?.stop();
  });
  stopButton.onclick = () => client?.stop();
  newChatButton.onclick = () => void newChat();
  modelSelect.onchange = () => {
    settings.model = modelSelect.value;
    saveSettings(settings);
    // The address would choose again on the next visit.
    const address = new URL(location.href);
    address.searchParams.delete('model');
    history.replaceState(null, '', address);
    void start();
  };
  for (const suggestion of byId('suggestions').querySelectorAll('button')) {
    suggestion.onclick = () => {
      prompt.value = suggestion.textContent ?? '';
      fitPrompt();
      submit();
    };
  }
}

/** A message that never got its answer is not part of the conversation: it returns to the composer. */
function restore(): void {
  if (turns.at(-1)?.role === 'user') prompt.value = turns.pop()!.content;
  showTurns(turns);
  fitPrompt();
}

addEventListener('pagehide', () => {
  if (answerText !== '') saveTurns([...turns, { role: 'assistant', content: answerText, stats: 'broken off' }]);
});

connectControls();
connectSettings(settings);
connectStored(
  () => models,
  (model) => {
    // Otherwise the next visit would download it again, unasked.
    settings.loaded = settings.loaded.filter((alias) => alias !== model?.alias);
    saveSettings(settings);
  },
);
restore();
keepSite();
void start();
