// The validate page: choose a model, run the checks, read the table, copy the report.
import { byId, connectCopy, formatBytes, make } from '../chat/dom.ts';
import { findModel, listModels, type SiteModel } from '../chat/models.ts';
import { keepSite } from '../chat/offline.ts';
import { asEngineError } from '../errors.ts';
import { checkGoldens, checkKernels, checkOps, describeAdapter } from './checks.ts';
import { asText, facts, isFine, type Report, verdict } from './report.ts';

const form = byId<HTMLFormElement>('form');
const modelSelect = byId<HTMLSelectElement>('model');
const kernels = byId<HTMLInputElement>('kernels');
const allCases = byId<HTMLInputElement>('all');
const runButton = byId<HTMLButtonElement>('run');
const status = byId('status');
const progress = byId<HTMLProgressElement>('progress');

let models: SiteModel[] = [];
/** Of the table's next rendering; 0: none is due. */
let frame = 0;
let report: Report = { browser: navigator.userAgent, about: undefined, model: undefined, checks: [] };

function setState(state: 'idle' | 'running' | 'done' | 'failed', text: string): void {
  document.body.dataset['state'] = state;
  status.textContent = text;
  // Read out whole, the names of hundreds of cases would never end; the verdict is read.
  status.setAttribute('aria-live', state === 'running' ? 'off' : 'polite');
  progress.hidden = state !== 'running';
  runButton.disabled = state === 'running';
  modelSelect.disabled = state === 'running';
}

function tell(text: string, part?: number): void {
  status.textContent = `${text} …`;
  if (part === undefined) progress.removeAttribute('value');
  else progress.value = part;
  // Many cases may end between two frames.
  frame ||= requestAnimationFrame(showTable);
}

function showTable(): void {
  cancelAnimationFrame(frame);
  frame = 0;
  byId('results').hidden = false;
  byId('about').replaceChildren(...facts(report).flatMap(([name, value]) => [make('dt', '', name), make('dd', '', value)]));
  byId('rows').replaceChildren(
    ...report.checks.map(({ name, compared, state, problem }) => {
      const words = { running: 'running …', fine: 'agrees', wrong: 'WRONG' };
      const result = make('td', `result ${state}`, words[state]);
      if (problem) result.append(make('p', 'problem', problem));
      return make('tr', '', make('td', '', name), make('td', 'number', compared), result);
    }),
  );
}

async function run(): Promise<void> {
  const model = models.find(({ alias }) => alias === modelSelect.value);
  if (!model && !kernels.checked) return setState('failed', 'There is nothing to check: choose the kernels, a model, or both.');
  report = { browser: navigator.userAgent, about: undefined, model: model?.name, checks: [] };
  byId('verdict').textContent = '';
  byId('report').textContent = '';
  setState('running', '');
  tell('Looking for your GPU');
  try {
    await describeAdapter(report);
    if (kernels.checked) await checkKernels(report, !allCases.checked, tell);
    if (model) await checkOps(report, model, tell);
    if (model?.goldenUrl) await checkGoldens(report, model, model.goldenUrl, tell);
  } catch (error) {
    report.failure = asEngineError(error).message;
  }
  showTable();
  const outcome = byId('verdict');
  outcome.textContent = verdict(report);
  outcome.dataset['fine'] = String(isFine(report));
  byId('report').textContent = asText(report);
  setState('done', '');
}

async function start(): Promise<void> {
  connectCopy(byId<HTMLButtonElement>('copy-text'), () => asText(report));
  connectCopy(byId<HTMLButtonElement>('copy-json'), () => JSON.stringify(report, undefined, 2));
  form.onsubmit = (event) => {
    event.preventDefault();
    void run();
  };
  models = await listModels();
  const label = ({ name, bytes, isLocal }: SiteModel) => `${name} · ${formatBytes(bytes)}${isLocal ? '' : ' to download'}`;
  modelSelect.replaceChildren(
    new Option('None', ''),
    ...models.map((model) => new Option(label(model), model.alias)),
  );
  setState('idle', '');
  const asked = new URLSearchParams(location.search).get('model');
  if (asked === null) return;
  try {
    modelSelect.value = findModel(models, asked).alias;
  } catch (error) {
    setState('failed', asEngineError(error).message);
  }
}

keepSite();
void start();
