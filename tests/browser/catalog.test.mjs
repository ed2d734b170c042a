// Choosing a model: the picker, the address, the memory plan, a download from the hub, and visits without a network.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { chatPages, goldens, tinyList, tinyModels } from './paths.mjs';
import { startSite } from './site.mjs';

const hub = 'https://huggingface.co/mlc-ai/Qwen3-4B-q4f16_1-MLC/resolve/main/';
const patience = { timeout: 120_000 };
let site, browser, page;
/** What is asked of the hub, and whether it can be reached. */
let asked = [];
let online = true;

before(async () => {
  site = await startSite({ '/': chatPages, '/models/tiny/': tinyModels });
  site.intercept = ({ url }, response) => {
    if (url !== '/models.json') return false;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(tinyList(['llama'])));
    return true;
  };
  browser = await openChromium();
  await browser.route(`${hub}**`, answerAsHub);
  page = browser.pages()[0];
});
after(async () => {
  await browser?.close();
  site?.stop();
});

/** The hub has the tiny Qwen3 under the name of the real one. */
function answerAsHub(route) {
  if (!online) return route.abort('internetdisconnected');
  const name = route.request().url().slice(hub.length);
  asked.push(name);
  const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Content-Range' };
  const file = `${goldens}qwen3/model/${name}`;
  if (!existsSync(file)) return route.fulfill({ status: 404, headers });
  const body = readFileSync(file);
  const range = /bytes=(\d+)-(\d*)/.exec(route.request().headers().range ?? '');
  if (!range) return route.fulfill({ status: 200, headers, body });
  const start = Number(range[1]);
  const end = range[2] ? Math.min(Number(range[2]) + 1, body.length) : body.length;
  headers['Content-Range'] = `bytes ${start}-${end - 1}/${body.length}`;
  return route.fulfill({ status: 206, headers, body: body.subarray(start, end) });
}

const open = (search) => page.goto(`${site.url}/${search}`);
const reached = (state) => page.waitForSelector(`body[data-state=${state}]`, patience);
const card = () => page.locator('#card').innerText();

test('the picker has the models of this site first, then those of the hub, with size and memory', async () => {
  await open('');
  await reached('idle');
  const groups = await page.locator('#model optgroup').evaluateAll((all) =>
    all.map(({ label, children }) => [label, [...children].map((option) => option.label)]));
  assert.deepEqual(groups.map(([label]) => label), ['On this site', 'From Hugging Face']);
  assert.match(groups[0][1].join(), /^Tiny llama · [\d.]+ kB$/);
  assert.match(groups[1][1].join('\n'), /^Phi-3-mini-4k-instruct · 2\.1 GB · 3\.9 GB of memory\nQwen3-4B · 2\.3 GB · 3\.0 GB of memory\n/);
  assert.equal(groups[1][1].length, 5);
});

test('the address chooses a model; one that does not exist is answered with those that do', async () => {
  await open('?model=qwen35');
  await reached('idle');
  assert.match(await card(), /Qwen3\.5-4B\s+2\.4 GB to download · about 2\.7 GB of GPU memory/);
  await open('?model=gpt9');
  await reached('failed');
  assert.match(await card(), /no model "gpt9"; known are tiny-llama, phi3, qwen3, qwen35, qwen36, qwen36q3\./);
  await open('?model=smollm2');
  await reached('failed');
  assert.match(await card(), /"smollm2" is not on this site/);
});

test('choosing after a wrong address works, and the address forgets the wrong name', async () => {
  await page.selectOption('#model', 'qwen3');
  await reached('idle');
  assert.match(await card(), /Qwen3-4B/);
  assert.equal(new URL(page.url()).search, '');
});

test('of two choices in quick succession the last one counts, and one engine is left', async () => {
  await page.evaluate(() => {
    const select = document.querySelector('#model');
    for (const alias of ['phi3', 'qwen36', 'qwen35']) {
      select.value = alias;
      select.dispatchEvent(new Event('change'));
    }
  });
  await page.waitForFunction(() => document.querySelector('#card-title').textContent === 'Qwen3.5-4B', undefined, patience);
  await reached('idle');
  await page.waitForTimeout(500);
  assert.match(await card(), /Qwen3\.5-4B/);
  assert.equal(page.workers().length, 1);
});

test('a context that is none, or too large for the model, is refused with numbers', async () => {
  await open('?model=tiny-llama&ctx=many');
  await reached('idle');
  await page.click('#card-action');
  await reached('failed');
  assert.match(await card(), /ctx=many, expected tokens from 1 to 1048576/);
  await open('?model=tiny-llama&ctx=1000000');
  await reached('idle');
  await page.click('#card-action');
  await reached('failed');
  assert.match(await card(), /context of 1000000 tokens.*trained for \d+/s);
});

test('a model of the hub: the memory plan comes before the weights, then it answers', async () => {
  await open('?model=qwen3&ctx=128');
  await reached('idle');
  await page.evaluate(() => {
    globalThis.details = new Set();
    const note = () => details.add(document.querySelector('#card-detail').textContent);
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.click('#card-action');
  await reached('ready');
  assert.match(await page.textContent('#status'), /128 tokens of context/);
  const details = await page.evaluate(() => [...globalThis.details].join('\n'));
  assert.match(details, /Takes [\d.]+ [kM]B of GPU memory: weights [\d.]+ [kM]B, KV cache of 128 tokens [\d.]+ [kM]B/);
  const firstShard = asked.findIndex((name) => name.startsWith('params_shard'));
  assert.ok(firstShard > 0 && asked.slice(firstShard).every((name) => name.startsWith('params_shard')), asked.join());
  assert.equal(new Set(asked).size, asked.length, asked.join());
  await page.fill('#prompt', 'Hi');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn.assistant:not([aria-busy])', patience);
});

test('the second visit needs no network', async () => {
  online = false;
  asked = [];
  await page.reload();
  await reached('ready');
  assert.deepEqual(asked, []);
  online = true;
});

test('a stored model is listed with its size, and its deletion is final', async () => {
  await page.click('[popovertarget=settings]');
  const row = page.locator('#stored li', { hasText: 'Qwen3-4B' });
  await row.waitFor();
  assert.match(await row.innerText(), /Qwen3-4B\s+\d+ kB\s+Delete/);
  await row.locator('button').click();
  await row.waitFor({ state: 'detached' });
  await page.reload();
  await reached('idle');
  assert.match(await card(), /to download/);
});

test('a model that may be too large for the device waits for a yes', async () => {
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'deviceMemory', { value: 0.001 }));
  await open('?model=tiny-llama');
  await reached('idle');
  await page.click('#card-action');
  await page.waitForSelector('#card-action:text("Load anyway")', patience);
  assert.match(await card(), /Tiny llama is large\s+The model takes [\d.]+ [kM]B\. This device has about 0\.001 GB/);
  await page.click('#card-action');
  await reached('ready');
});
