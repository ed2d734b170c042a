// The same C++ engine in a browser gives what the reference gives: logits, hidden states after each layer and greedy
// tokens of a tiny model of every family, and the chats of a real one. Firefox is asked in validate.test.mjs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openLab } from './lab.mjs';
import { readFloats, relativeL2 } from './numbers.mjs';
import { golden, goldens, models, nDecided, requireModel, smolFile, tinyFile } from './paths.mjs';

// Reference and engine both compute these adapters' f32 forms; what is left is the order of sums.
const noise = 0.02;
/** Of the logits' standard deviation, as in src/engine/family_golden_gpu_test.cpp. */
const logitsNoise = 2e-3;
/** Of their standard deviation and 1, as there. */
const hiddenNoise = 1e-4;
let opened, page;

before(async () => {
  requireModel();
  opened = await openLab({ '/models/': models, '/golden/': goldens });
  ({ page } = opened);
});
after(() => opened?.close());

function assertGreedy(ids, tokens, margins, name) {
  const n = Math.min(nDecided(margins, noise), ids.length);
  assert.ok(n > 0, `${name} decides nothing`);
  assert.deepEqual(ids.slice(0, n), tokens.slice(0, n), `${name}, first ${n} tokens`);
}

function deviation(values) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length);
}

const worst = (got, want) => want.reduce((most, x, i) => Math.max(most, Math.abs(x - got[i])), 0);
const argmax = (values) => values.reduce((best, x, i) => (x > values[best] ? i : best), 0);

function assertLogits(got, want, name) {
  assert.equal(got.length, want.length, name);
  assert.ok(worst(got, want) < logitsNoise * deviation(want), `${name}: logits differ by ${worst(got, want)}`);
  assert.ok(relativeL2(got, want) < logitsNoise, `${name}: logits differ by ${relativeL2(got, want)} of their norm`);
  assert.equal(argmax(got), argmax(want), name);
}

/** `want` has the layers one behind the other. */
function assertHidden(layers, want, name) {
  assert.equal(layers.length * layers[0].length, want.length, name);
  for (const [layer, got] of layers.entries()) {
    const expected = want.slice(layer * got.length, (layer + 1) * got.length);
    const difference = worst(got, expected);
    assert.ok(difference < hiddenNoise * (1 + deviation(expected)), `${name}, layer ${layer}: off by ${difference}`);
  }
}

/** Greedy tokens of each prompt: to their end for one dense family and one with every kind of layer, as time allows. */
const nTokensOf = { llama: 32, phi3: 12, qwen3: 12, qwen35: 12, qwen36: 32, qwen36q3: 12 };

for (const [family, nTokens] of Object.entries(nTokensOf)) {
  test(`the tiny ${family} gives the reference's logits, hidden states and tokens`, async () => {
    const { prompts: all, hidden } = golden(`${family}/golden`);
    // One of 65 tokens, a row after a chunk, is left to the llama and to recurrent layers: all have others.
    const prompts = all.filter(({ name }) => ['llama', 'qwen35'].includes(family) || name !== 'p065');
    const source = { name: family, url: `golden/${family}/model/${family === 'llama' ? tinyFile : ''}` };
    const asked = prompts.map(({ name, ids }) => ({ ids, nTokens, hidden: name === hidden.prompt }));
    const results = await page.evaluate(([from, prompts]) => lab.probeModel(from, prompts), [source, asked]);
    for (const [i, { name, last_logits, greedy }] of prompts.entries()) {
      assertLogits(results[i].logits, readFloats(`${goldens}${family}/golden/${last_logits.file}`), name);
      if (name === hidden.prompt) {
        assertHidden(results[i].hidden, readFloats(`${goldens}${family}/golden/${hidden.states.file}`), name);
      }
      assert.equal(results[i].ids.length, nTokens);
      assertGreedy(results[i].ids, greedy.tokens, greedy.margins, name);
    }
  });
}

test('SmolLM2 renders the chats as the reference and gives its tokens', async () => {
  // The chat page asks "short" (chat.test.mjs); the long one is only rendered, and left in its prefill.
  const [system, multiTurn] = ['system', 'multi_turn'].map((one) => golden('smollm2').prompts.find(({ name }) => name === one));
  const requests = [
    { messages: multiTurn.messages, onlyBegin: true },
    { messages: system.messages, max_tokens: 12, ignore_eos: true },
  ];
  const source = { name: smolFile, url: `models/${smolFile}` };
  const result = await page.evaluate(([from, all]) => lab.generateAll(from, all), [source, requests]);
  assert.equal(result.error, undefined, JSON.stringify(result.error));
  const [begun, answer] = result.answers;
  assert.deepEqual(begun.promptIds, multiTurn.ids);
  assert.deepEqual(answer.promptIds, system.ids);
  assertGreedy(answer.ids, system.tokens, system.margins, 'system');
  const { n_output_tokens, decode_ms, prefill_ms } = answer.timings;
  const rate = (1000 * (n_output_tokens - 1)) / decode_ms;
  console.log(`${rate.toFixed(1)} tokens/s, first token after ${Math.round(prefill_ms)} ms`);
});

test('a file that is no model is refused with a sentence', async () => {
  const result = await page.evaluate(() => lab.generateAll({ name: 'lab', url: 'index.html' }, []));
  assert.equal(result.error.code, 'corrupt_file');
  assert.match(result.error.text, /HTML page/);
});
