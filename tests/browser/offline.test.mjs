// The chat page without a network: after one visit, page and model come from this browser; a new build replaces the old.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { chatPages, tinyList, tinyModels } from './paths.mjs';
import { startSite } from './site.mjs';

const folder = '/some/where/';
const patience = { timeout: 60_000 };
let site, browser, page;

before(async () => {
  site = await startSite({ [folder]: chatPages, [`${folder}models/tiny/`]: tinyModels });
  answerWith({});
  browser = await openChromium();
  page = browser.pages()[0];
});
after(async () => {
  await browser?.close();
  site?.stop();
});

/** Sends the list of models, and these texts for these files of the site. */
function answerWith(texts) {
  const types = { js: 'text/javascript', json: 'application/json' };
  site.intercept = ({ url }, response) => {
    const name = url.slice(folder.length).replace(/\?.*/, '');
    const text = name === 'models.json' ? JSON.stringify(tinyList(['llama'])) : texts[name];
    if (text === undefined) return false;
    response.writeHead(200, { 'Content-Type': types[name.split('.')[1]] ?? 'text/html' }).end(text);
    return true;
  };
}

const reached = (state) => page.waitForSelector(`body[data-state=${state}]`, patience);
const siteCaches = () => page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('zero-tvm-site')));
const siteText = (name) => readFileSync(chatPages + name, 'utf8');

/** As if the server were gone; it comes back at the same address. */
const goAway = () => {
  const { intercept } = site;
  site.intercept = (_, response) => {
    response.destroy();
    return true;
  };
  return () => (site.intercept = intercept);
};

async function newWorkerIsActive() {
  const isActive = () => SITE.version.startsWith('new-') && globalThis.serviceWorker.state === 'activated';
  for (const endMs = Date.now() + patience.timeout; Date.now() < endMs; ) {
    for (const worker of browser.serviceWorkers()) if (await worker.evaluate(isActive).catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail('the new build has no active service worker');
}

async function answers() {
  await page.fill('#prompt', 'Once upon a time');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn.assistant:not([aria-busy])', patience);
  await reached('ready');
  assert.notEqual((await page.locator('.turn.assistant .body').last().textContent()).trim(), '');
  await page.click('#new-chat');
}

test('after one visit the page and its model work without the server', async () => {
  await page.goto(`${site.url}${folder}`);
  await reached('idle');
  await page.evaluate(() => localStorage.setItem('zero-tvm.settings', JSON.stringify({ maxTokens: 8 })));
  await page.reload();
  await reached('idle');
  await page.click('#card-action');
  await reached('ready');
  await page.evaluate(() => navigator.serviceWorker.ready);
  site.stop();
  const [answer] = await Promise.all([page.reload(), reached('ready')]);
  assert.ok(answer.fromServiceWorker());
  await answers();
});

test('the validate page opens, too, and the address may hold a choice', async () => {
  await page.goto(`${site.url}${folder}validate/?model=tiny-llama`);
  await reached('idle');
  assert.equal(await page.inputValue('#model'), 'tiny-llama');
  await page.goto(`${site.url}${folder}?model=tiny-llama`);
  await reached('ready');
});

test('weights and what is not of the site are not kept', async () => {
  const [name, ...others] = await siteCaches();
  assert.deepEqual(others, []);
  const kept = await page.evaluate(async (one) => (await (await caches.open(one)).keys()).map(({ url }) => url), name);
  assert.ok(kept.some((url) => url.endsWith('.wasm')));
  assert.ok(kept.every((url) => url.startsWith(site.url + folder) && !url.includes('/models/')), kept.join());
});

test('a new build replaces the old, for the next visit without a server, too', async () => {
  await site.start();
  answerWith({
    '': siteText('index.html').replace('<title>Zero TVM', '<title>The new build'),
    'service_worker.js': siteText('service_worker.js').replace('"version":"', '"version":"new-'),
  });
  const [old] = await siteCaches();
  await page.reload();
  assert.equal(await page.title(), 'The new build');
  await newWorkerIsActive();
  const comeBack = goAway();
  await page.reload();
  assert.equal(await page.title(), 'The new build');
  await reached('ready');
  await answers();
  comeBack();
  assert.equal((await siteCaches())[0], old, 'the build before stays for tabs that still show it');
});

test('a server that fails is as good as none', async () => {
  site.intercept = (_, response) => {
    response.writeHead(503).end('down for maintenance');
    return true;
  };
  await page.reload();
  await reached('ready');
});
