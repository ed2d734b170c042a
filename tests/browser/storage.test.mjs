// The storage of one file (web/model_file.ts) against a server that behaves, and one that does not: nothing half or wrong is ever kept or used.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { openLab } from './lab.mjs';
import { etag } from './site.mjs';

const piece = 4 << 20;
const folder = mkdtempSync(join(tmpdir(), 'zero-tvm-models-'));
const content = Buffer.concat([Buffer.from('GGUF'), randomBytes(2 * piece + 12345)]);
const everything = [[0, content.length]];
const wholeHash = sha256(content);
let opened, site, page, ranges, path;
let nFiles = 0;

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

before(async () => {
  opened = await openLab({ '/models/': `${folder}/` });
  ({ site, page } = opened);
});
after(() => opened?.close());

// Each test has a file of its own, and `ranges` lists the Range headers of the requests for it.
beforeEach(() => {
  path = `models/file-${++nFiles}.gguf`;
  writeFileSync(join(folder, `file-${nFiles}.gguf`), content);
  ranges = [];
  answerWith(() => false);
});

/** `answer(request, response)` may answer a request for the test's file itself, by returning true. */
function answerWith(answer) {
  site.intercept = (request, response) => {
    if (request.url !== `/${path}`) return false;
    ranges.push(request.headers.range);
    return answer(request, response);
  };
}

function open(options = {}) {
  const { reads = everything, nBytes, ...rest } = options;
  const source = { name: 'file', url: path, ...(nBytes ? { nBytes } : {}) };
  const job = { source, reads: reads.map((range) => ({ file: 'file', range })), finish: true, ...rest };
  return page.evaluate((one) => lab.runStorage(one), job);
}

/** Sends the right header for the range, then only `nSent` bytes of it; once they arrived, cuts the connection. */
function breakOff(request, response, nSent) {
  const start = Number(/\d+/.exec(request.headers.range)[0]);
  response.writeHead(206, {
    ETag: etag(statSync(join(folder, `file-${nFiles}.gguf`))),
    'Content-Range': `bytes ${start}-${content.length - 1}/${content.length}`,
    'Content-Length': content.length - start,
  });
  response.write(content.subarray(start, start + nSent), () => setTimeout(() => response.destroy(), 1000));
  return true;
}

/** As a server that tells no version of its files. */
function answerWithoutVersion(bytes) {
  answerWith((request, response) => {
    const [, start, end] = /(\d+)-(\d*)/.exec(request.headers.range);
    const part = bytes.subarray(Number(start), end ? Number(end) + 1 : bytes.length);
    const range = `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'Content-Range': range, 'Content-Length': part.length }).end(part);
    return true;
  });
}

/** The kinds of files stored for the test's file: "data", "log", "part". */
function kindsOf(result) {
  const mine = result.files.filter((name) => name.startsWith(`file-${nFiles}.`));
  return mine.map((name) => name.split('.').pop());
}

test('the first visit downloads and the second asks the network for nothing', async () => {
  const first = await open();
  assert.deepEqual(first.hashes, [wholeHash]);
  assert.equal(first.fromStorage, false);
  assert.equal(first.note, undefined);
  assert.equal(first.nHeard, content.length);
  assert.deepEqual(kindsOf(first), ['data', 'log']);
  ranges = [];
  const second = await open();
  assert.deepEqual(second.hashes, [wholeHash]);
  assert.equal(second.fromStorage, true);
  assert.equal(second.nHeard, content.length);
  assert.deepEqual(ranges, []);
});

test('ranges in any order give the right bytes; what nobody asks for is not fetched, and the network not needed', async () => {
  const reads = [[2 * piece + 1, 5], [0, 7], [2 * piece, 100]];
  const result = await open({ reads });
  assert.deepEqual(result.hashes, reads.map(([offset, n]) => sha256(content.subarray(offset, offset + n))));
  assert.deepEqual(kindsOf(result), ['log', 'part']);
  ranges = [];
  const second = await open({ reads });
  assert.equal(second.fromStorage, true);
  assert.deepEqual(second.hashes, result.hashes);
  assert.deepEqual(ranges, []);
  const third = await open();
  assert.equal(third.fromStorage, false);
  assert.deepEqual(third.hashes, [wholeHash]);
  assert.deepEqual(kindsOf(third), ['data', 'log']);
});

test('a connection that breaks goes on at the byte where it broke', async () => {
  let nBreaks = 0;
  answerWith((request, response) => ++nBreaks === 2 && breakOff(request, response, piece + 1000));
  const result = await open({ reads: [[0, 4], [piece + 5, piece], [0, content.length]] });
  assert.equal(result.hashes?.at(-1), wholeHash, JSON.stringify(result));
});

test('an interrupted download has no final name and resumes behind the last verified piece', async () => {
  answerWith((request, response) => {
    if (ranges.length === 1) return breakOff(request, response, piece + 1000);
    response.writeHead(503).end();
    return true;
  });
  const broken = await open();
  assert.equal(broken.error.code, 'network');
  assert.deepEqual(kindsOf(broken), ['log', 'part']);
  ranges = [];
  answerWith(() => false);
  const resumed = await open();
  assert.deepEqual(resumed.hashes, [wholeHash]);
  // A glance at length and version, then the rest.
  assert.deepEqual(ranges, ['bytes=0-1023', `bytes=${piece}-`]);
});

test('a partial download of another version of the file is thrown away', async () => {
  await open({ reads: [[0, 10]], finish: false });
  const other = Buffer.concat([Buffer.from('GGUF'), randomBytes(content.length - 4)]);
  writeFileSync(join(folder, `file-${nFiles}.gguf`), other);
  const result = await open();
  assert.deepEqual(result.hashes, [sha256(other)]);
});

test('what an earlier visit has of a file without a version is thrown away', async () => {
  answerWithoutVersion(content);
  await open({ reads: [[0, 10]], finish: false });
  const other = Buffer.concat([Buffer.from('GGUF'), randomBytes(content.length - 4)]);
  answerWithoutVersion(other);
  const result = await open();
  assert.deepEqual(result.hashes, [sha256(other)]);
});

test('a piece that rotted in a file without a version is not replaced by another file\'s', async () => {
  answerWithoutVersion(content);
  await open();
  const broken = await open({ fault: 'rotten-piece' });
  assert.equal(broken.error?.code, 'corrupt_file');
  assert.match(broken.error.text, /tells no version; load it again/);
  const again = await open();
  assert.deepEqual(again.hashes, [wholeHash]);
  assert.equal(again.fromStorage, false);
});

test('a server without ranges still gives the right bytes', async () => {
  answerWith((_, response) => {
    response.writeHead(200, { 'Content-Length': content.length }).end(content);
    return true;
  });
  const result = await open({ reads: [[piece + 3, 100], [5, 10], [0, content.length]] });
  assert.equal(result.hashes.at(-1), wholeHash);
  assert.equal((await open()).fromStorage, true);
});

test('a piece that rotted in storage is noticed and fetched again', async () => {
  await open();
  ranges = [];
  const repaired = await open({ fault: 'rotten-piece' });
  assert.deepEqual(repaired.hashes, [wholeHash]);
  assert.equal(ranges.length, 1);
  ranges = [];
  assert.deepEqual((await open()).hashes, [wholeHash]);
  assert.deepEqual(ranges, []);
});

test('without room the model still loads, and the person is told', async () => {
  const result = await open({ fault: 'quota' });
  assert.deepEqual(result.hashes, [wholeHash]);
  assert.match(result.note, /no room to keep the model\. It works now/);
  assert.deepEqual(kindsOf(result), []);
});

test('without OPFS the model still loads, and the person is told', async () => {
  const result = await open({ fault: 'no-opfs' });
  assert.deepEqual(result.hashes, [wholeHash]);
  assert.match(result.note, /cannot keep the model/);
});

/** One wrong answer: what the server sends, and what the error must say. */
const refusals = [
  ['a page instead of the model', [200, { 'Content-Type': 'text/html' }, '<!doctype html>'], 'corrupt_file', /HTML page/],
  ['a page that hides its type', [200, {}, '\n<html><body>404</body></html>'], 'corrupt_file', /HTML page/],
  ['a Git LFS pointer', [200, {}, 'version https://git-lfs.github.com/spec/v1\noid'], 'corrupt_file', /Git LFS pointer/],
  ['status 404', [404, {}, 'no'], 'not_found', /has no file .*status 404/],
  ['status 403', [403, {}, 'no'], 'network', /answers 403 .* expected 200 or 206/],
  ['status 416', [416, { 'Content-Range': 'bytes */0' }, ''], 'corrupt_file', /has no byte 0 \(status 416\)/],
  ['another range', [206, { 'Content-Range': 'bytes 5-9/10' }, '56789'], 'network', /from byte 5 on, asked for 0/],
];

for (const [name, [status, headers, body], code, text] of refusals) {
  test(`${name} is refused and not kept`, async () => {
    answerWith((_, response) => {
      response.writeHead(status, headers).end(body);
      return true;
    });
    const result = await open();
    assert.equal(result.error?.code, code, JSON.stringify(result));
    assert.match(result.error.text, text);
    answerWith(() => false);
    assert.deepEqual((await open()).hashes, [wholeHash]);
  });
}

test('a file of another length than the site says is refused', async () => {
  const result = await open({ nBytes: content.length + 1 });
  assert.equal(result.error.code, 'corrupt_file');
  assert.match(result.error.text, new RegExp(`has ${content.length} bytes, expected ${content.length + 1}`));
});

test('a body that always ends early is an error', async () => {
  answerWith((request, response) => breakOff(request, response, 0));
  const result = await open();
  assert.equal(result.error.code, 'network');
  assert.match(result.error.text, /broke off after 0 bytes/);
});
