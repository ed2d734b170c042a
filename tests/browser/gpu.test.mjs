// web/gpu.ts on a real WebGPU device: order, pipelines that still compile, errors, device loss.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openLab, reloadLab } from './lab.mjs';

let opened, page;

before(async () => {
  opened = await openLab();
  ({ page } = opened);
});
after(() => opened?.close());

/** Each test gets a fresh page with a device and a kernel that doubles, as globals of the page. */
beforeEach(async () => {
  await reloadLab(opened);
  await page.evaluate(async () => {
    const { bench, caps } = await lab.makeGpuBench();
    Object.assign(globalThis, { bench, caps });
    globalThis.double = `
      @group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] *= 2u; }`;
    globalThis.compiled = async (pipeline) => {
      const bindings = bench.bindings(pipeline, [bench.buffer(16)]);
      bench.submit([[0, pipeline, bindings, 1, 1, 1]]);
      await bench.read(bench.buffer(16), 0, 1);
    };
  });
});

test('the adapter is described with its granted limits', async () => {
  const caps = await page.evaluate(() => caps);
  assert.match(caps.adapter, /swiftshader/i);
  assert.equal(caps.kind, 'cpu');
  assert.equal(caps.compiler, 'tint');
  assert.equal(caps.f16, false);
  assert.equal(caps.subgroups, true);
  assert.equal(caps.subgroup_max, 4);
  assert.ok(caps.max_binding_bytes > 128 << 20, 'the adapter allows more than the default, so it is asked for');
});

test('dispatches and copies of one list run in order', async () => {
  const [a, b] = await page.evaluate(async () => {
    const pipeline = bench.pipeline('double', double, [1]);
    const a = bench.buffer(16);
    const b = bench.buffer(16);
    const bindings = bench.bindings(pipeline, [a]);
    await compiled(pipeline);
    bench.write(a, 0, [1, 2, 3, 4]);
    // Doubles two words, copies words 1..2 to words 0..1 of b, doubles all.
    bench.submit([
      [0, pipeline, bindings, 2, 1, 1],
      [1, a, b, 1, 0, 2],
      [0, pipeline, bindings, 4, 1, 1],
    ]);
    return Promise.all([bench.read(a, 0, 4), bench.read(b, 0, 4)]);
  });
  assert.deepEqual(a, [4, 8, 6, 8]);
  assert.deepEqual(b, [4, 3, 0, 0]);
});

test('work behind a pipeline that still compiles keeps its order', async () => {
  const [first, second] = await page.evaluate(async () => {
    const a = bench.buffer(16);
    bench.write(a, 0, [5, 5, 5, 5]);
    const pipeline = bench.pipeline('double', double, [1]);
    const bindings = bench.bindings(pipeline, [a]);
    bench.submit([[0, pipeline, bindings, 4, 1, 1]]);
    const first = bench.read(a, 0, 4);
    bench.write(a, 4, [7]);
    bench.submit([[0, pipeline, bindings, 2, 1, 1]]);
    const second = bench.read(a, 0, 4);
    bench.destroy(a);
    return Promise.all([first, second]);
  });
  assert.deepEqual(first, [10, 10, 10, 10]);
  assert.deepEqual(second, [20, 14, 10, 10]);
});

test('many reads are under way at once', async () => {
  const ok = await page.evaluate(async () => {
    const a = bench.buffer(4096);
    bench.write(a, 0, Array.from({ length: 1024 }, (_, i) => i));
    const reads = Array.from({ length: 40 }, (_, i) => bench.read(a, 16 * i, 1 + 13 * i));
    const results = await Promise.all(reads);
    return results.every((words, i) => words.length === 1 + 13 * i && words.every((word, k) => word === 4 * i + k));
  });
  assert.ok(ok);
});

test('a kernel that does not compile is named with the line, and nothing hangs', async () => {
  const { errors, words } = await page.evaluate(async () => {
    const a = bench.buffer(16);
    const pipeline = bench.pipeline('broken', '@compute @workgroup_size(1)\nfn main() { let x: f32 = 1u; }', [1]);
    const bindings = bench.bindings(pipeline, [a]);
    bench.submit([[0, pipeline, bindings, 1, 1, 1]]);
    const words = await bench.read(a, 0, 4);
    return { errors: bench.errors, words };
  });
  assert.equal(errors.length, 1, JSON.stringify(errors));
  assert.equal(errors[0].code, 6);
  assert.match(errors[0].text, /^Kernel "broken" does not compile: line 2: /);
  assert.deepEqual(words, [0, 0, 0, 0]);
});

test('a misuse of the device is reported as an error', async () => {
  const errors = await page.evaluate(async () => {
    const a = bench.buffer(16);
    bench.submit([[1, a, a, 0, 0, 64]]);
    await bench.read(a, 0, 1);
    // The event may come after the read.
    for (let i = 0; i < 500 && bench.errors.length === 0; ++i) await new Promise((resolve) => setTimeout(resolve, 10));
    return bench.errors;
  });
  assert.equal(errors[0]?.code, 6);
  assert.match(errors[0].text, /^The GPU reports: /);
});

test('a lost device fails the reads that wait and says so once', async () => {
  const { errors, words, later } = await page.evaluate(async () => {
    const a = bench.buffer(16);
    const pipeline = bench.pipeline('double', double, [1]);
    bench.submit([[0, pipeline, bench.bindings(pipeline, [a]), 4, 1, 1]]);
    const pending = bench.read(a, 0, 4);
    bench.device.destroy();
    const words = await pending;
    await bench.settled();
    const later = await bench.read(a, 0, 4);
    return { errors: bench.errors, words, later };
  });
  assert.equal(words, undefined);
  assert.equal(later, undefined);
  assert.equal(errors.filter(({ code }) => code === 7).length, 1, JSON.stringify(errors));
});
