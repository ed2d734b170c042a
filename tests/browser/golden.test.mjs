// The same C++ engine in two browsers gives the reference's greedy tokens: the real model, and a tiny one.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { openFirefox } from './firefox.mjs';
import { golden, labPages, models, nDecided, requireModel, smolFile, tinyFile, tinyModels } from './paths.mjs';
import { startSite } from './site.mjs';

// Reference and engine both compute these adapters' f32 forms; what is left is the order of sums.
const noise = 0.02;
/** Tokens a second of the real model's answers. */
let site;

before(async () => {
  requireModel();
  site = await startSite({ '/': labPages, '/models/': models, '/tiny/': tinyModels });
});
after(() => site?.stop());

async function openLab(page) {
  await page.goto(site.url);
  await page.waitForFunction(() => globalThis.lab);
}

function assertGreedy(answer, tokens, margins, name) {
  const n = Math.min(nDecided(margins, noise), answer.ids.length);
  assert.ok(n > 0, `${name} decides nothing`);
  assert.deepEqual(answer.ids.slice(0, n), tokens.slice(0, n), `${name}, first ${n} tokens`);
}

/** The tiny model's prompts, by ids. */
async function checkTiny(page) {
  const prompts = golden('llama/golden').prompts.filter(({ greedy }) => greedy);
  const requests = prompts.map(({ ids }) => ({ ids, max_tokens: 32, ignore_eos: true }));
  const source = { name: tinyFile, url: `tiny/${tinyFile}` };
  const result = await page.evaluate(([from, all]) => lab.generateAll(from, all), [source, requests]);
  assert.equal(result.error, undefined);
  for (const [i, { name, ids, greedy }] of prompts.entries()) {
    assert.deepEqual(result.answers[i].promptIds, ids);
    assert.equal(result.answers[i].ids.length, 32);
    assertGreedy(result.answers[i], greedy.tokens, greedy.margins, name);
  }
}

test('Chromium: a tiny model gives the reference tokens', async () => {
  const browser = await openChromium();
  try {
    const page = browser.pages()[0];
    await openLab(page);
    await checkTiny(page);
  } finally {
    await browser.close();
  }
});

test('Firefox: a tiny model gives the reference tokens without subgroups', async () => {
  const browser = await openFirefox();
  try {
    const page = await browser.newPage();
    await openLab(page);
    await checkTiny(page);
  } finally {
    await browser.close();
  }
});

test('Chromium: SmolLM2 renders the chats as the reference and gives its tokens', async () => {
  const browser = await openChromium();
  try {
    const page = browser.pages()[0];
    await openLab(page);
    const prompts = golden('smollm2').prompts.filter(({ name }) => ['short', 'system', 'multi_turn'].includes(name));
    const requests = prompts.map(({ messages }) => ({ messages, max_tokens: 24, ignore_eos: true }));
    const source = { name: smolFile, url: `models/${smolFile}` };
    const result = await page.evaluate(([from, all]) => lab.generateAll(from, all), [source, requests]);
    assert.equal(result.error, undefined, JSON.stringify(result.error));
    for (const [i, { name, ids, tokens, margins }] of prompts.entries()) {
      const answer = result.answers[i];
      assert.deepEqual(answer.promptIds, ids, `${name}: the rendered prompt`);
      assertGreedy(answer, tokens, margins, name);
      const { n_output_tokens, decode_ms, prefill_ms } = answer.timings;
      const rate = (1000 * (n_output_tokens - 1)) / decode_ms;
      console.log(`${name}: ${rate.toFixed(1)} tokens/s, first token after ${Math.round(prefill_ms)} ms`);
    }
  } finally {
    await browser.close();
  }
});

test('a file that is no model is refused with a sentence', async () => {
  const browser = await openChromium();
  try {
    const page = browser.pages()[0];
    await openLab(page);
    const source = { name: 'lab', url: 'index.html' };
    const result = await page.evaluate(([from]) => lab.generateAll(from, []), [source]);
    assert.equal(result.error.code, 'corrupt_file');
    assert.match(result.error.text, /HTML page/);
  } finally {
    await browser.close();
  }
});
