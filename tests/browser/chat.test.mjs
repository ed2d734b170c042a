// The chat page as a person uses it, one visit after another in the same browser profile: first with the real model, then,
// for what the model does not matter to, with a tiny one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { chatPages, golden, models, requireModel, tinyList, tinyModels } from './paths.mjs';
import { startSite } from './site.mjs';

const patience = { timeout: 120_000 };
let site, browser, page;

before(async () => {
  requireModel();
  site = await startSite({ '/': chatPages, '/models/': models, '/models/tiny/': tinyModels });
  const { models: real } = JSON.parse(readFileSync(`${chatPages}models.json`, 'utf8'));
  site.intercept = ({ url }, response) => {
    if (url !== '/models.json') return false;
    const list = { models: [...real, ...tinyList(['llama']).models] };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(list));
    return true;
  };
  browser = await openChromium();
  page = browser.pages()[0];
});
after(async () => {
  await browser?.close();
  site?.stop();
});

const reached = (...states) => page.waitForSelector(states.map((state) => `body[data-state=${state}]`).join(), patience);
const lastAnswer = () => page.locator('.turn.assistant').last();
const modelRequests = () => site.requests.filter((line) => line.includes('/models/'));

async function ask(text) {
  await page.fill('#prompt', text);
  await page.keyboard.press('Enter');
}

/** Waits for the answer to the question that was just asked, or for a failure. */
async function answered(nAnswersBefore) {
  await page.waitForFunction((n) => {
    const { state } = document.body.dataset;
    const nDone = document.querySelectorAll('.turn.assistant:not([aria-busy])').length;
    return state === 'failed' || (state === 'ready' && nDone > n);
  }, nAnswersBefore, patience);
  assert.equal(await page.getAttribute('body', 'data-state'), 'ready', await page.textContent('#card'));
}

async function askAndWait(text) {
  const nAnswers = await page.locator('.turn.assistant').count();
  await ask(text);
  await answered(nAnswers);
}

async function setMaxTokens(nTokens) {
  await page.click('[popovertarget=settings]');
  await page.fill('#max-tokens', String(nTokens));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
}

async function setTemperature(value) {
  await page.click('[popovertarget=settings]');
  await page.locator('#temperature').fill(String(value));
  await page.keyboard.press('Escape');
}

test('a first question loads the model, shows the download, and streams the answer', async () => {
  await page.goto(site.url);
  await reached('idle');
  assert.match(await page.textContent('#card'), /SmolLM2 135M Instruct.*98\.4 MB to download.*230 MB of GPU memory/s);
  await setTemperature(0);
  await setMaxTokens(24);
  await page.evaluate(() => {
    globalThis.seen = new Set();
    const note = () => {
      seen.add(document.querySelector('#card-text').textContent);
      seen.add(document.querySelector('.turn.assistant .body')?.textContent);
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await askAndWait('What is the capital of France?');
  const { text } = golden('smollm2').prompts.find(({ name }) => name === 'short');
  assert.equal(await lastAnswer().locator('.body').textContent(), `${text}\n`);
  assert.match(await lastAnswer().locator('.stats').textContent(), /[\d.]+ tokens\/s · first token after [\d.]+ s/);
  const seen = await page.evaluate(() => [...globalThis.seen].filter((line) => line));
  assert.ok(seen.some((line) => /Downloading: [\d.]+ MB of 98\.4 MB · [\d.]+ MB\/s · \d+ s left/.test(line)), seen);
  assert.ok(seen.filter((line) => text.startsWith(line.trim())).length >= 3, 'the answer grows on the page');
});

test('the page stays responsive while the model answers', async () => {
  await setMaxTokens(8);
  await page.evaluate(() => {
    globalThis.longestGapMs = 0;
    let lastMs = performance.now();
    globalThis.ticker = setInterval(() => {
      globalThis.longestGapMs = Math.max(globalThis.longestGapMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 20);
  });
  await askAndWait('Tell me about the sea.');
  const gapMs = await page.evaluate(() => (clearInterval(ticker), longestGapMs));
  console.log(`longest pause of the page: ${Math.round(gapMs)} ms`);
  assert.ok(gapMs < 500, `the page stood still for ${gapMs} ms`);
});

test('Escape stops an answer, keeps its text, and the next question is answered', async () => {
  await setMaxTokens(400);
  const nAnswers = await page.locator('.turn.assistant').count();
  await ask('Count from one to one hundred in words.');
  await page.waitForFunction(() => document.querySelector('[aria-busy] .stats')?.textContent.includes('tokens/s'), undefined, patience);
  await page.keyboard.press('Escape');
  await answered(nAnswers);
  assert.match(await lastAnswer().locator('.stats').textContent(), /stopped$/);
  assert.notEqual((await lastAnswer().locator('.body').textContent()).trim(), '');
  await setMaxTokens(2);
  await askAndWait('And now?');
  assert.match(await lastAnswer().locator('.stats').textContent(), /2 tokens · cut at the longest answer allowed$/);
});

test('New chat empties the conversation for good, and another model is chosen', async () => {
  await page.click('#new-chat');
  assert.equal(await page.locator('.turn').count(), 0);
  await page.selectOption('#model', 'tiny-llama');
  await reached('idle');
  await page.reload();
  await reached('idle');
  assert.equal(await page.inputValue('#model'), 'tiny-llama');
  assert.equal(await page.locator('.turn').count(), 0);
  assert.ok(await page.isVisible('#welcome'));
});

test('a reload keeps the conversation and loads the model from this browser', async () => {
  await askAndWait('Once upon a time');
  const before = await page.locator('#messages').innerText();
  site.requests.length = 0;
  await page.reload();
  await reached('ready', 'failed');
  assert.equal(await page.locator('#messages').innerText(), before);
  assert.deepEqual(modelRequests(), []);
});

test('a lost device is explained, and the engine comes back with the conversation', async () => {
  const nTurns = await page.locator('.turn').count();
  await page.workers()[0].evaluate(() => globalThis.engine.device.destroy());
  await reached('failed');
  assert.match(await page.textContent('#card'), /GPU went away.*Reload the engine to go on/s);
  await page.click('#card-action');
  await reached('ready');
  assert.equal(await page.locator('.turn').count(), nTurns);
  await askAndWait('Hello?');
  assert.equal(await page.locator('.turn').count(), nTurns + 2);
});

test('an engine that breaks in the middle of an answer is told of, and what was written stays', async () => {
  await setMaxTokens(400);
  await ask('Once upon a time');
  await page.waitForFunction(() => document.querySelector('[aria-busy] .stats')?.textContent.includes('tokens/s'), undefined, patience);
  await page.workers()[0].evaluate(() => {
    globalThis.engine.module.gpu.host.readDone = () => {
      throw new WebAssembly.RuntimeError('unreachable');
    };
  });
  await reached('failed');
  assert.match(await page.textContent('#card'), /internal error \(unreachable\)/);
  await page.waitForSelector('.turn.assistant:not([aria-busy])', patience);
  assert.match(await lastAnswer().locator('.stats').textContent(), /broken off by an error/);
  await page.click('#card-action');
  await reached('ready');
});

test('a model that writes HTML, scripts and pictures harms nothing', async () => {
  const content = [
    '<img src=x onerror="globalThis.harmed=1"> <script>globalThis.harmed=2</script>',
    '[click](javascript:globalThis.harmed=3) [data](data:text/html,x) [good](https://example.org/a?b=c)',
    '![picture](http://example.org/spy.png) <a href="javascript:globalThis.harmed=4">raw</a>',
    '<style>body { display: none }</style><iframe src="https://example.org"></iframe>',
    '<svg><animate onbegin=globalThis.harmed=5 /></svg><form action="https://example.org"><input></form>',
    '```html\n<b onclick="globalThis.harmed=6">code</b>\n```',
  ].join('\n\n');
  const strangers = [];
  page.on('request', (request) => request.url().startsWith(site.url) || strangers.push(request.url()));
  await page.evaluate((text) => {
    const turns = [
      { role: 'user', content: '<b>hi</b><img src=x onerror="globalThis.harmed=7">' },
      { role: 'assistant', content: text },
    ];
    localStorage.setItem('zero-tvm.conversation', JSON.stringify(turns));
  }, content);
  await page.reload();
  await reached('ready');
  const answer = lastAnswer().locator('.body');
  assert.equal(await answer.locator('img, script, style, iframe, svg, form, input').count(), 0);
  const links = await answer.locator('a[href]').evaluateAll((all) => all.map(({ href, rel, target }) => ({ href, rel, target })));
  assert.deepEqual(links, [
    { href: 'https://example.org/a?b=c', rel: 'noopener noreferrer nofollow', target: '_blank' },
  ]);
  assert.match(await page.locator('.turn.user .body').textContent(), /^<b>hi<\/b>/);
  assert.equal(await page.evaluate(() => globalThis.harmed), undefined);
  assert.deepEqual(strangers, []);
});

test('a browser without WebGPU is told so, and what to do', async () => {
  const old = await openChromium({ gpu: false });
  try {
    const oldPage = old.pages()[0];
    await oldPage.addInitScript(() => Object.defineProperty(navigator, 'gpu', { value: undefined }));
    await oldPage.goto(site.url);
    await oldPage.waitForSelector('body[data-state=failed]');
    assert.match(await oldPage.textContent('#card'), /(no WebGPU|No graphics adapter).*(current Chrome|hardware acceleration)/s);
  } finally {
    await old.close();
  }
});
