// A model of several files: where each is looked for, what is kept of them, and that nothing is asked for twice.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { openChromium } from './chromium.mjs';
import { labPages } from './paths.mjs';
import { startSite } from './site.mjs';

const piece = 4 << 20;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const config = Buffer.from('{"model_type": "qwen3"}');
const tokenizer = Buffer.from(JSON.stringify({ filler: 'x'.repeat(piece) }));
const shards = [Buffer.concat([Buffer.from('<\n'), randomBytes(6 * piece + 5)]), randomBytes(100)];
/** The folder as the engine reads it: configs whole, one that may be missing, ranges of the shards in order. */
const reads = [
  { file: 'missing.jinja', optional: true },
  { file: 'config.json' },
  { file: 'tokenizer.json', maxBytes: 8 << 20 },
  { file: 'shard_0.bin', range: [0, 2 * piece] },
  { file: 'shard_0.bin', range: [2 * piece, 4 * piece] },
  { file: 'shard_0.bin', range: [6 * piece, 7] },
  { file: 'shard_1.bin', range: [0, 100] },
];
const hashes = [
  null,
  sha256(config),
  sha256(tokenizer),
  ...[[0, 2], [2, 6], [6, 7]].map(([from, to]) => sha256(shards[0].subarray(from * piece, to * piece))),
  sha256(shards[1]),
];
const files = { 'config.json': config, 'tokenizer.json': tokenizer, 'shard_0.bin': shards[0], 'shard_1.bin': shards[1] };

/** The page's own site, and one of another origin that stands for the network. */
let site, hub, browser, page, folder;
let nFolders = 0;

before(async () => {
  site = await startSite({ '/': labPages });
  hub = await startSite({ '/': labPages });
  browser = await openChromium();
  page = browser.pages()[0];
  site.strangers = [hub.url];
  await page.goto(site.url);
  await page.waitForFunction(() => globalThis.lab);
});
after(async () => {
  await browser?.close();
  site?.stop();
  hub?.stop();
});

beforeEach(() => {
  folder = `folder-${++nFolders}`;
  serve(site, {});
  serve(hub, files);
});

const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Content-Range, ETag' };

/** Answers for the test's folder with `content` and honours ranges; `before` may answer itself. */
function serve(server, content, before = () => false) {
  server.asked = [];
  server.intercept = (request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...cors, 'Access-Control-Allow-Headers': '*' }).end();
      return true;
    }
    const name = new RegExp(`^/(?:local-weights/)?${folder}/(.*)$`).exec(request.url)?.[1];
    if (name === undefined) return false;
    const { range } = request.headers;
    server.asked.push(range ? `${name} ${range}` : name);
    if (before(name, request, response)) return true;
    sendRange(response, content[name], range);
    return true;
  };
}

function sendRange(response, bytes, range) {
  if (!bytes) {
    response.writeHead(404, cors).end();
    return;
  }
  const [, first, last] = /bytes=(\d+)-(\d*)/.exec(range ?? '') ?? [];
  const headers = { ...cors, ETag: `"${sha256(bytes).slice(0, 8)}"` };
  if (first === undefined) {
    response.writeHead(200, { ...headers, 'Content-Length': bytes.length }).end(bytes);
    return;
  }
  const end = last ? Math.min(Number(last) + 1, bytes.length) : bytes.length;
  const part = bytes.subarray(Number(first), end);
  const contentRange = `bytes ${first}-${end - 1}/${bytes.length}`;
  response.writeHead(206, { ...headers, 'Content-Range': contentRange, 'Content-Length': part.length }).end(part);
}

function load(options = {}) {
  const { local, ...rest } = options;
  const source = { name: 'model', url: `${hub.url}/${folder}/`, ...(local ? { local } : {}) };
  return page.evaluate((job) => lab.runStorage(job), { source, reads, finish: true, readAhead: true, ...rest });
}

const localFolder = () => ({ url: `local-weights/${folder}/` });
const isWeights = (line) => line.startsWith('shard');

/** As if WebLLM had downloaded the file on this origin. */
async function cache(name, cacheName = 'webllm/model', text = undefined) {
  const url = `${hub.url}/${folder}/${name}`;
  await page.evaluate(([one, at, body]) => lab.putCached(one, at, body), [cacheName, url, text]);
  hub.asked = [];
}

/** The names under which a file of the test's folder may be stored. */
const storedNames = (result, name) => {
  const key = `${name}-${sha256(`${hub.url}/${folder}/${name}`).slice(0, 16)}`;
  return result.files.filter((file) => file.startsWith(key)).map((file) => file.slice(key.length + 1));
};

test('the first visit downloads every file once, the second needs no network', async () => {
  const first = await load();
  assert.deepEqual(first.hashes, hashes, JSON.stringify(first));
  assert.equal(first.fromStorage, false);
  assert.equal(first.note, undefined);
  assert.deepEqual(first.places.slice(1), Array(6).fill('network'));
  assert.equal(hub.asked.filter((line) => !isWeights(line)).join(), 'missing.jinja,config.json,tokenizer.json');
  hub.asked = [];
  const second = await load();
  assert.deepEqual(second.hashes, hashes);
  assert.equal(second.fromStorage, true);
  assert.deepEqual(hub.asked, []);
});

test('without a network a complete model loads, the file that never was included', async () => {
  await load();
  serve(hub, {}, (_, __, response) => response.destroy());
  const result = await load();
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.equal(result.fromStorage, true);
});

test('a large shard comes over several connections, each byte once', async () => {
  const open = new Set();
  let most = 0;
  serve(hub, files, (name, request, response) => {
    if (name !== 'shard_0.bin') return false;
    open.add(request);
    most = Math.max(most, open.size);
    response.on('close', () => open.delete(request));
    setTimeout(() => sendRange(response, files[name], request.headers.range), 100);
    return true;
  });
  const result = await load();
  assert.deepEqual(result.hashes, hashes);
  assert.ok(most >= 3, `${most} connections at once`);
  const ranges = hub.asked.filter((line) => line.startsWith('shard_0')).map((line) => line.split('=')[1]);
  assert.equal(new Set(ranges).size, ranges.length, ranges.join());
});

test("WebLLM's cache is used and left as it is, and the rest comes from the network", async () => {
  await cache('config.json', 'webllm/config');
  await cache('shard_0.bin');
  const result = await load();
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.deepEqual(result.places, ['storage', 'cache', 'network', 'cache', 'cache', 'cache', 'network']);
  assert.ok(!hub.asked.some((line) => /config|shard_0/.test(line)), hub.asked.join());
  assert.deepEqual(storedNames(result, 'shard_0.bin'), ['log'], 'the cached shard is not stored twice');
  assert.deepEqual(storedNames(result, 'shard_1.bin'), ['data', 'log']);
  assert.deepEqual((await page.evaluate(() => caches.keys())).sort(), ['webllm/config', 'webllm/model']);
  hub.asked = [];
  assert.deepEqual((await load()).hashes, hashes);
  assert.deepEqual(hub.asked, []);
});

test('a piece that changed in the cache since it was first read is fetched from the network', async () => {
  await cache('shard_0.bin');
  await load();
  const good = files['shard_0.bin'];
  files['shard_0.bin'] = Buffer.from(good);
  files['shard_0.bin'][3 * piece + 1] ^= 1;
  await cache('shard_0.bin');
  files['shard_0.bin'] = good;
  const result = await load();
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.ok(hub.asked.length > 0 && hub.asked.every(isWeights), hub.asked.join());
});

test("a cached page instead of a file, or none of WebLLM's, is passed over", async () => {
  await cache('config.json', 'webllm/config', '<!doctype html>');
  const result = await load();
  assert.deepEqual(result.hashes, hashes);
  assert.equal(result.places[1], 'network');
});

test("this site's copy is asked before the network, and completed from there", async () => {
  const { 'shard_1.bin': _, ...incomplete } = files;
  serve(site, incomplete);
  const result = await load({ local: localFolder() });
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.deepEqual(result.places.slice(1), [...Array(5).fill('server'), 'network']);
  // The first file that is asked for is optional: nothing is known of the site's copy yet.
  assert.deepEqual(hub.asked, ['missing.jinja', `shard_1.bin bytes=0-${2 * piece - 1}`]);
});

test('with a list of its files, this site is believed: a file that need not exist is not looked for elsewhere', async () => {
  serve(site, files);
  const local = { ...localFolder(), files: Object.keys(files) };
  const result = await load({ local });
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.deepEqual(hub.asked, []);
  assert.ok(!site.asked.includes('missing.jinja'));
});

test('a site without the folder is asked for one file only', async () => {
  const result = await load({ local: localFolder() });
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.deepEqual(site.asked, ['missing.jinja', 'config.json']);
});

test('a site that answers every address with its page has no copy', async () => {
  serve(site, {}, (_, __, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>');
    return true;
  });
  assert.deepEqual((await load({ local: localFolder() })).hashes, hashes);
});

test('an interrupted load goes on with the pieces that it has', async () => {
  let nSent = 0;
  serve(hub, files, (name, _, response) => {
    if (name !== 'shard_0.bin' || ++nSent < 3) return false;
    response.writeHead(503, cors).end();
    return true;
  });
  const broken = await load();
  assert.equal(broken.error?.code, 'network', JSON.stringify(broken));
  serve(hub, files);
  const resumed = await load();
  assert.deepEqual(resumed.hashes, hashes);
  assert.ok(!hub.asked.some((line) => /^(config|tokenizer|missing)/.test(line)), hub.asked.join());
  assert.ok(!hub.asked.includes(`shard_0.bin bytes=0-${2 * piece - 1}`), hub.asked.join());
});

test('compressed texts, whose length the server does not say, are whole', async () => {
  const { gzipSync } = await import('node:zlib');
  serve(hub, files, (name, _, response) => {
    if (!name.endsWith('.json')) return false;
    response.writeHead(200, { ...cors, 'Content-Encoding': 'gzip' }).end(gzipSync(files[name]));
    return true;
  });
  assert.deepEqual((await load()).hashes, hashes);
});

test('a config that is larger than the engine accepts is refused', async () => {
  const result = await load({ reads: [{ file: 'tokenizer.json', maxBytes: 1000 }] });
  assert.equal(result.error?.code, 'corrupt_file');
  assert.match(result.error.text, /tokenizer\.json has more than 1000 bytes/);
});

test('a file that must exist and does not is named', async () => {
  serve(hub, { 'config.json': config });
  const result = await load();
  assert.equal(result.error?.code, 'not_found');
  assert.match(result.error.text, /tokenizer\.json \(status 404\)/);
});

test('a name that leads out of the folder is refused', async () => {
  for (const file of ['../other/config.json', '..', '/etc/passwd', 'https://example.org/x']) {
    const result = await load({ reads: [{ file }] });
    assert.ok(result.error, file);
    assert.match(result.error.text, /lies outside its folder|404/, file);
  }
  assert.deepEqual(hub.asked, ['https%3A//example.org/x']);
});

test('contents that the engine refuses are not kept', async () => {
  await load({ evict: true });
  hub.asked = [];
  await load();
  assert.equal(hub.asked.filter((line) => !isWeights(line)).join(), 'config.json,tokenizer.json');
  assert.ok(hub.asked.some((line) => line.startsWith('shard_1')));
});

test("contents of WebLLM's cache that the engine refuses are fetched from the network next time", async () => {
  await cache('config.json', 'webllm/config');
  await cache('shard_1.bin');
  await load({ evict: true });
  hub.asked = [];
  const result = await load();
  assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
  assert.ok(hub.asked.includes('config.json'), hub.asked.join());
  assert.ok(hub.asked.some((line) => line.startsWith('shard_1')), hub.asked.join());
  hub.asked = [];
  assert.equal((await load()).fromStorage, true);
  assert.deepEqual(hub.asked, []);
});

test('stored models are listed with their sizes and can be deleted', async () => {
  await page.evaluate(async () => {
    for (const { url } of await lab.listStored()) await lab.deleteStored(url);
  });
  await load();
  const url = `${hub.url}/${folder}/`;
  const [stored, ...others] = await page.evaluate(() => lab.listStored());
  assert.deepEqual(others, []);
  assert.equal(stored.url, url);
  assert.equal(stored.complete, true);
  const nBytes = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0);
  assert.ok(stored.bytes >= nBytes && stored.bytes < nBytes + 5000, `${stored.bytes} of ${nBytes}`);
  await page.evaluate((one) => lab.deleteStored(one), url);
  assert.deepEqual(await page.evaluate(() => lab.listStored()), []);
});

test('over the quota the model runs from memory, and says so', async () => {
  const session = await page.context().newCDPSession(page);
  const { usage } = await page.evaluate(() => navigator.storage.estimate());
  await session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: usage + 3 * piece });
  try {
    const result = await load();
    assert.deepEqual(result.hashes, hashes, JSON.stringify(result));
    assert.match(result.note, /no room to keep the model/);
  } finally {
    await session.send('Storage.overrideQuotaForOrigin', { origin: site.url });
  }
});
