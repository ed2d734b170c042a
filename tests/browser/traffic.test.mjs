// What a first load takes from the network: each byte about once, whatever order the engine reads in.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { openLab } from './lab.mjs';
import { goldens } from './paths.mjs';

const mib = 1 << 20;
const folder = mkdtempSync(join(tmpdir(), 'zero-tvm-traffic-'));
const phi3 = `${goldens}phi3/model/`;
let opened, site, page;

before(async () => {
  opened = await openLab({ '/shards/': `${folder}/`, '/phi3/': phi3 });
  ({ site, page } = opened);
});
after(async () => {
  await opened?.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  site.sent.clear();
  await page.evaluate(async () => {
    for (const { url } of await lab.listStored()) await lab.deleteStored(url);
  });
});

/** Bytes sent of the files whose paths begin so, as a multiple of their lengths. */
function timesSent(prefix, files) {
  const nSent = [...site.sent].filter(([path]) => path.startsWith(prefix)).reduce((sum, [, n]) => sum + n, 0);
  const times = nSent / files.reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(`${prefix}: ${nSent} bytes, ${times.toFixed(3)} times the files`);
  return times;
}

/**
 * Shards as MLC writes them: of each tensor the words, then the scales, which may lie in the next shard. The engine reads
 * the scales first (src/load/read_plan.hpp). Words in MiB; scales are an eighth.
 */
function writeShards() {
  const shards = [[12, 1.5, 10, 1.25, 6], [0.75, 2, 0.25, 16, 2, 3], [0.375, 20, 2.5]];
  const contents = shards.map((parts) => randomBytes(parts.reduce((sum, part) => sum + part, 0) * mib));
  contents.forEach((bytes, i) => writeFileSync(join(folder, `shard_${i}.bin`), bytes));
  const places = shards.flatMap((parts, i) => {
    let at = 0;
    return parts.map((part) => ({ file: `shard_${i}.bin`, at: (at += part * mib) - part * mib, nBytes: part * mib }));
  });
  const reads = [];
  for (let i = 0; i < places.length; i += 2) {
    for (const { file, at, nBytes } of [places[i + 1], places[i]]) {
      for (let from = 0; from < nBytes; from += 4 * mib) reads.push({ file, range: [at + from, Math.min(4 * mib, nBytes - from)] });
    }
  }
  const hashes = reads.map(({ file, range: [at, nBytes] }) => {
    const bytes = contents[Number(file[6])].subarray(at, at + nBytes);
    return createHash('sha256').update(bytes).digest('hex');
  });
  return { reads, hashes };
}

for (const fault of [undefined, 'no-opfs']) {
  test(`shards read out of order come once, ${fault ? 'without' : 'with'} storage`, async () => {
    const { reads, hashes } = writeShards();
    const job = { source: { name: 'model', url: 'shards/' }, reads, finish: true, readAhead: true, fault };
    const result = await page.evaluate((one) => lab.runStorage(one), job);
    assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
    const files = readdirSync(folder).map((name) => join(folder, name));
    assert.ok(timesSent('/shards/', files) < 1.02);
  });
}

for (const quota of [undefined, 1]) {
  test(`the tiny phi3 comes once, ${quota ? 'without' : 'with'} storage`, async () => {
    const session = await page.context().newCDPSession(page);
    if (quota) await session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: quota });
    try {
      const result = await page.evaluate((source) => lab.generateAll(source, []), { name: 'phi3', url: 'phi3/' });
      assert.equal(result.error, undefined, JSON.stringify(result.error));
      assert.equal(result.loaded.note !== undefined, quota !== undefined);
      assert.ok(timesSent('/phi3/', readdirSync(phi3).map((name) => phi3 + name)) < 1.02);
    } finally {
      await session.send('Storage.overrideQuotaForOrigin', { origin: site.url });
    }
  });
}
