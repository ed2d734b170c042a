// A static server for the tests: the built pages, model files with byte ranges, and faults on demand.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

// As `zerotvm serve` sends them (src/apps/server), so that the tests find what they forbid.
const security = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co; worker-src 'self'",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Serves `folders` ({'/': path, '/models/': path}; the longest prefix wins). The result's `requests` lists "METHOD path";
 * its `intercept(request, response)` may answer a request itself by returning true; `sent` counts bytes by path.
 */
export async function startSite(folders) {
  /** Origins other than its own that the pages may ask, and what is asked of this server. */
  const site = { requests: [], intercept: () => false, strangers: [], sent: new Map() };
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    site.requests.push(`${request.method} ${path}`);
    if (site.intercept(request, response)) return;
    const prefix = prefixes.find((start) => path.startsWith(start));
    const file = join(folders[prefix], path.slice(prefix.length).replace(/(^|\/)$/, '$1index.html'));
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    const count = ({ length }) => site.sent.set(path, (site.sent.get(path) ?? 0) + length);
    sendFile(request, response, file, found, site.strangers, count);
  });
  let port = 0;
  /** After stop(), listens again at the same address. */
  site.start = async () => {
    await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address());
  };
  await site.start();
  site.url = `http://127.0.0.1:${port}`;
  site.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return site;
}

export function etag({ size, mtimeMs }) {
  return `"${size}-${mtimeMs}"`;
}

function sendFile(request, response, file, found, strangers, count) {
  const { size } = found;
  const policy = security['Content-Security-Policy'].replace("connect-src 'self'", ["connect-src 'self'", ...strangers].join(' '));
  const headers = {
    ...security,
    'Content-Security-Policy': policy,
    'Content-Type': types[extname(file)] ?? 'application/octet-stream',
    'Cache-Control': 'no-cache',
    'Accept-Ranges': 'bytes',
    ETag: etag(found),
  };
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (!range) {
    response.writeHead(200, { ...headers, 'Content-Length': size });
    createReadStream(file).on('data', count).pipe(response);
    return;
  }
  const start = Number(range[1]);
  const end = range[2] ? Math.min(Number(range[2]), size - 1) : size - 1;
  if (start >= size) {
    response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(206, {
    ...headers,
    'Content-Range': `bytes ${start}-${end}/${size}`,
    'Content-Length': end - start + 1,
  });
  const stream = createReadStream(file, { start, end });
  stream.on('data', count).pipe(response);
  response.on('close', () => stream.destroy());
}
