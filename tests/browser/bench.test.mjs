// The bench page by its address: figures that make sense, nothing created per token, models that do not fit refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { chatPages } from './paths.mjs';
import { startSite } from './site.mjs';

let site, browser, page;
/** Of the first measurement, for a cache of floats. */
let floats;

before(async () => {
  site = await startSite({ '/': chatPages });
  browser = await openChromium();
  page = browser.pages()[0];
});
after(async () => {
  await browser?.close();
  site?.stop();
});

async function run(query) {
  await page.goto(`${site.url}/bench/index.html?${query}&run=1`);
  await page.waitForSelector('body[data-state=done], body[data-state=failed]', { timeout: 120_000 });
  return { report: await page.evaluate(() => globalThis.benchReport), status: await page.textContent('#status') };
}

function assertSamples({ median, values }, n) {
  assert.equal(values.length, n);
  assert.ok(values.every((value) => Number.isFinite(value) && value > 0), values.join());
  assert.ok(median >= Math.min(...values) && median <= Math.max(...values));
}

test('one layer of SmolLM2 gives figures of every kind, and decoding creates nothing', async () => {
  const { report, status } = await run('model=smollm2&layers=1&depth=0,5&prompt=4&gen=4&repeat=2');
  assert.equal(status, 'Done.');
  floats = report;
  assert.equal(report.failure, undefined);
  assert.equal(report.model, 'smollm2 with random weights');
  assert.equal(report.n_layers, 1);
  assert.match(report.adapter, /swiftshader/i);
  assert.equal(report.kernels, 'cpu f32');
  assert.ok(report.stream_gb_per_s > 0);
  assertSamples(report.prefill.tokens_per_s, 2);
  assertSamples(report.prefill.ttft_ms, 2);
  assert.deepEqual(report.decode.map(({ depth }) => depth), [0, 5]);
  for (const one of report.decode) {
    assertSamples(one.tokens_per_s, 2);
    assertSamples(one.total_tokens_per_s, 2);
    assertSamples(one.ttft_ms, 1);
    assert.ok(one.bytes_per_token > 1e6 && one.bytes_per_token < report.memory_plan.total_bytes, String(one.bytes_per_token));
    assert.ok(one.dispatches_per_token > 8 && one.submits_per_token <= 2, JSON.stringify(one));
    assert.ok(one.host_ms_per_token > 0);
    assert.equal(one.n_created, 0);
    const { createBuffer, createBindGroup, createPipeline, submit, dispatch } = one.webgpu_calls;
    assert.deepEqual([createBuffer, createBindGroup, createPipeline], [0, 0, 0]);
    // Two runs of five passes.
    assert.equal(submit, 2 * 5 * one.submits_per_token);
    assert.equal(dispatch, 2 * 5 * one.dispatches_per_token);
  }
  assert.ok(report.clock_note !== undefined || report.clock_step_us > 0);
  for (const kernels of [report.prefill_kernels, report.decode_kernels]) {
    assert.ok(kernels.some(({ name }) => name === 'down'), JSON.stringify(kernels));
    assert.ok(kernels.every(({ n_ops, ms }) => n_ops > 0 && ms >= 0));
  }
  const text = await page.textContent('#report');
  assert.match(text, /Decode of 4 tokens\n +Depth +Tokens\/s/);
  assert.match(text, /What a token takes\n +Depth +Reads.*\n +0 .* 0\n +5 .* 0\n/);
  assert.match(text, /Kernels of a decoded token\n/);
  assert.equal(await page.locator('#decode tbody tr').count(), 2);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
  assert.equal(download.suggestedFilename(), 'zerotvm-bench-smollm2.json');
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), 'utf8')), report);
});

test('an int8 KV cache is measured too, and takes less memory', async () => {
  const query = 'model=smollm2&layers=1&depth=20&prompt=4&gen=4&repeat=1&kernels=0';
  assert.ok(floats, 'the first measurement is there');
  const { report: int8, status } = await run(`${query}&kv=int8`);
  assert.equal(status, 'Done.');
  assert.equal(int8.memory_plan.context, floats.memory_plan.context);
  assert.equal(int8.kernels, 'cpu f32, int8 KV cache');
  assert.equal(int8.memory_plan.kv_cache_bytes, (floats.memory_plan.kv_cache_bytes * 36) / 128);
  const { status: refusal } = await run(`${query}&kv=int4`);
  assert.match(refusal, /"int4" is no type of it, expected float or int8/);
});

test('a model that the device has no memory for is refused with both numbers', async () => {
  const { report, status } = await run('model=phi3&layers=1024');
  assert.match(status, /^The model takes \d+\.\d\d GB, but this adapter computes on the CPU .* [\d.]+ [MG]B may be used/);
  assert.equal(report.failure, status);
  assert.equal(report.decode, undefined);
  assert.ok(report.memory_plan.total_bytes > 5e10);
});

test('a depth beyond the model’s context is refused with both numbers', async () => {
  const { status } = await run('model=smollm2&layers=1&depth=9000&gen=8');
  assert.match(status, /context of 9009 tokens is asked for, but .* was trained for 8192/);
});

test('an unknown shape and a field that is no number are named', async () => {
  assert.match((await run('model=nonsense')).status, /no shape of "nonsense", expected one of phi3, qwen3, /);
  assert.match((await run('gen=many')).status, /^Generated: "many" is no whole number from 2 to/);
});

test('a run can be cancelled', async () => {
  await page.goto(`${site.url}/bench/index.html?model=smollm2&layers=2&kernels=0&run=1`);
  await page.waitForSelector('#cancel:not([hidden])');
  await page.click('#cancel');
  await page.waitForSelector('body[data-state=failed]');
  assert.equal(await page.textContent('#status'), 'The measurement was cancelled.');
  assert.ok(await page.isEnabled('#run'));
});
