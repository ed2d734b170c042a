// The validate page: kernels and models that agree, one that does not, and the report that says so.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { openFirefox } from './firefox.mjs';
import { chatPages, golden, goldens, tinyList, tinyModels } from './paths.mjs';
import { startSite } from './site.mjs';

const families = ['llama', 'phi3', 'qwen3', 'qwen35', 'qwen36', 'qwen36q3'];
let site, browser, page;

before(async () => {
  const folders = families.map((family) => [`/local-weights/tiny-${family}/`, `${goldens}${family}/model/`]);
  site = await startSite({
    '/': chatPages,
    '/models/tiny/': tinyModels,
    ...Object.fromEntries(folders),
  });
  answerWith({});
  browser = await openChromium();
  page = browser.pages()[0];
});
after(async () => {
  await browser?.close();
  site?.stop();
});

/** The reference's answers to two short prompts: golden.test.mjs checks the others. */
function shortGolden(family) {
  const { prompts, ...rest } = golden(`${family}/golden`);
  return { ...rest, prompts: prompts.filter(({ name }) => ['p007', 'p016'].includes(name)) };
}

/** Sends the list of models and the reference's answers, which are these for one family. */
function answerWith(changed) {
  site.intercept = ({ url }, response) => {
    const [, family] = /^\/golden\/(.*)\/golden\/golden\.json$/.exec(url) ?? [];
    const answer = url.endsWith('/models.json') ? tinyList(families) : family ? (changed[family] ?? shortGolden(family)) : undefined;
    const text = answer && JSON.stringify(answer);
    if (text === undefined) return false;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
    return true;
  };
}

async function run(alias, { kernels }) {
  await page.goto(`${site.url}/validate/index.html${alias ? `?model=${alias}` : ''}`);
  await page.waitForSelector('body[data-state=idle]');
  await page.setChecked('#kernels', kernels);
  await page.click('#run');
  await page.waitForSelector('body[data-state=done]', { timeout: 400_000 });
  const rows = await page.locator('#rows tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
  return { verdict: await page.textContent('#verdict'), report: await page.textContent('#report'), rows };
}

test('every quick case of every kernel agrees, and the report describes the adapter', async () => {
  const { verdict, report, rows } = await run('', { kernels: true });
  assert.equal(verdict, 'Everything agrees with its reference.', report);
  const names = rows.map(([name]) => name);
  for (const kernel of ['matmul', 'attention', 'rms_norm', 'embed', 'sample', 'delta_rule', 'expert_matmul']) {
    assert.ok(names.includes(kernel), names.join());
  }
  assert.ok(rows.every(([, compared, result]) => /^\d+ cases?$/.test(compared) && result === 'agrees'), JSON.stringify(rows));
  assert.match(report, /Adapter +.*swiftshader/i);
  assert.match(report, /Kernel set +cpu f32\. /);
  assert.match(report, /Browser +Mozilla/);
});

for (const family of ['llama', 'qwen36']) {
  test(`the tiny ${family} agrees op by op and in its greedy ids`, async () => {
    const { verdict, report, rows } = await run(`tiny-${family}`, { kernels: false });
    assert.equal(verdict, 'Everything agrees with its reference.', report);
    assert.deepEqual(rows.map(([name]) => name), ['model, op by op', 'model, greedy ids']);
    const [nOps, nDifferent] = /^(\d+) ops, (\d+) different$/.exec(rows[0][1]).slice(1).map(Number);
    assert.ok(nDifferent > 20 && nOps > nDifferent, rows[0][1]);
    assert.ok(Number.parseInt(rows[1][1]) > 30, rows[1][1]);
    assert.match(report, new RegExp(`Model +Tiny ${family}`));
  });
}

test('a model whose ids are not the reference’s is said to be wrong, with the first token that differs', async () => {
  const changed = shortGolden('llama');
  const prompt = changed.prompts.find(({ greedy }) => greedy);
  const token = prompt.greedy.tokens[0];
  prompt.greedy.tokens[0] = token + 1;
  answerWith({ llama: changed });
  try {
    const { verdict, report } = await run('tiny-llama', { kernels: false });
    assert.equal(verdict, 'Wrong results: model, greedy ids. Please attach the report to an issue.', report);
    assert.match(report, new RegExp(`${prompt.name}: token 0 is ${token}, expected ${token + 1}`));
  } finally {
    answerWith({});
  }
});

test('without anything to check, the page asks for a choice', async () => {
  await page.goto(`${site.url}/validate/index.html`);
  await page.waitForSelector('body[data-state=idle]');
  await page.setChecked('#kernels', false);
  await page.click('#run');
  await page.waitForSelector('body[data-state=failed]');
  assert.match(await page.textContent('#status'), /nothing to check: choose the kernels, a model, or both/);
});

test('an unknown model is named with those that are known', async () => {
  await page.goto(`${site.url}/validate/index.html?model=nonsense`);
  await page.waitForSelector('body[data-state=failed]');
  assert.match(await page.textContent('#status'), /no model "nonsense"; known are tiny-llama, .*qwen36q3/);
});

test('Firefox: a tiny model agrees op by op and in its greedy ids, without subgroups', async () => {
  const firefox = await openFirefox();
  try {
    const tab = await firefox.newPage();
    await tab.goto(`${site.url}/validate/index.html?model=tiny-qwen3`);
    await tab.waitForSelector('body[data-state=idle]');
    await tab.click('#kernels');
    await tab.click('#run');
    await tab.waitForSelector('body[data-state=done]', { timeout: 300_000 });
    const report = await tab.$eval('#report', (element) => element.textContent);
    assert.match(report, /Everything agrees/);
    assert.match(report, /greedy ids +\d+ ids +agree/);
    assert.match(report, /subgroups no/);
  } finally {
    await firefox.close();
  }
});
