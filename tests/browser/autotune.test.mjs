// Autotune in a browser, and the GPU sets through Tint: SwiftShader gets the CPU's set by default, which has nothing to choose.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openLab } from './lab.mjs';
import { readFloats, relativeL2 } from './numbers.mjs';
import { golden, goldens, nDecided, tinyFile } from './paths.mjs';

/** As of GPU sets in src/engine/family_golden_gpu_test.cpp: activations are multiplied as 16-bit integers. */
const noise = 5e-3;
const source = { name: 'llama', url: `golden/llama/model/${tinyFile}` };
let opened, page;

before(async () => {
  opened = await openLab({ '/golden/': goldens });
  ({ page } = opened);
});
after(() => opened?.close());

async function probe(options) {
  const prompts = golden('llama/golden').prompts.filter(({ name }) => ['p001', 'p016'].includes(name));
  const asked = prompts.map(({ ids }) => ({ ids, nTokens: 4, hidden: false }));
  const results = await page.evaluate(([from, all, how]) => lab.probeModel(from, all, how), [source, asked, options]);
  for (const [i, { name, last_logits, greedy }] of prompts.entries()) {
    const want = readFloats(`${goldens}llama/golden/${last_logits.file}`);
    const { logits, ids } = results[i];
    const relative = relativeL2(logits, want);
    assert.ok(relative < noise, `${name}: logits differ by ${relative} of their norm`);
    const n = Math.min(nDecided(greedy.margins, 0.02), ids.length);
    assert.deepEqual(ids.slice(0, n), greedy.tokens.slice(0, n), name);
  }
}

const kept = async () => {
  const text = await page.evaluate(() => lab.loadTuning());
  return text === '' ? undefined : JSON.parse(text);
};

test('a GPU set gives the reference’s logits, and a CPU is not measured unless it is asked for', async () => {
  await probe({ kernels: 'gpu f32' });
  assert.equal(await kept(), undefined);
});

test('forms are measured once, kept, and taken by the next visit', async () => {
  const options = { kernels: 'gpu f32', autotune: 'on' };
  await probe(options);
  const first = await kept();
  assert.equal(first.kernels, 'gpu f32');
  assert.equal(first.compiler, 'tint');
  const shapes = Object.entries(first.shapes);
  assert.ok(shapes.length > 0);
  for (const [name, { form, own, us, wrong }] of shapes) {
    assert.ok(us[form] > 0 && us[own] > 0, name);
    assert.equal(wrong, undefined, `${name}: ${JSON.stringify(wrong)}`);
  }
  // Compiling these kernels again would take as long as all of the above.
  const taken = await page.evaluate(([from, how]) => lab.tuningAfterOpen(from, how), [source, options]);
  assert.deepEqual(JSON.parse(taken).shapes, first.shapes);
});

test('a set that is not known is refused with those that are', async () => {
  await assert.rejects(probe({ kernels: 'gpu f64' }), /gpu f64/);
});
