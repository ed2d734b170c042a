// Keeps the site's own files, so that the page opens without a network. Weights are not its business: the engine keeps
// those, and what is asked of other origins passes by.
//
// A page comes from the network if that answers soon, else from the cache of this build. Files whose names hold a hash
// come from the cache; those of the build before are kept for tabs that still show it.

/** Written in front of this file by the build: a hash over all files, and their addresses below the site's folder. */
declare const SITE: { version: string; files: string[] };

const worker = globalThis as unknown as ServiceWorkerScope;
const { scope } = worker.registration;
const cachePrefix = `zero-tvm-site ${scope} `;
const cacheName = cachePrefix + SITE.version;
const addresses = new Set(SITE.files.map((file) => new URL(file, scope).href));
const modelList = new URL('models.json', scope).href;
const assets = new URL('assets/', scope).href;
/** After it, a network that does not answer counts as none. */
const patienceMs = 4000;

worker.addEventListener('install', (event) => {
  event.waitUntil(fill());
  void worker.skipWaiting();
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(removeOld().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = addressOf(request.url);
  if (request.method !== 'GET' || request.headers.has('Range')) return;
  // Assets of the build before are no longer among the addresses.
  if (url.startsWith(assets)) event.respondWith(cachedFirst(url, request));
  else if (addresses.has(url)) event.respondWith(freshFirst(url, request, event));
});

/** Without search and fragment; a folder's index has the folder's address. */
function addressOf(text: string): string {
  const url = new URL(text);
  url.search = url.hash = '';
  return url.href.replace(/\/index\.html$/, '/');
}

async function fill(): Promise<void> {
  // Made anew, so that the order of caches is that of the builds.
  await caches.delete(cacheName);
  const cache = await caches.open(cacheName);
  await Promise.all(
    [...addresses].map(async (url) => {
      // What was just loaded with a hash in its name need not come twice.
      const response = await fetch(url, { cache: url.startsWith(assets) ? 'default' : 'no-cache' });
      if (!response.ok) throw new Error(`The server answers ${response.status} for ${url}, expected 200.`);
      await cache.put(url, plain(response));
    }),
  );
}

/** A redirected answer is refused where a page was asked for. */
function plain(response: Response): Response {
  if (!response.redirected) return response;
  const { headers, status } = response;
  return new Response(response.body, { headers, status });
}

async function removeOld(): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(cachePrefix));
  const kept = names.filter((name) => name !== cacheName).slice(-1);
  await Promise.all(names.filter((name) => name !== cacheName && !kept.includes(name)).map((name) => caches.delete(name)));
}

async function cachedFirst(url: string, request: Request): Promise<Response> {
  for (const name of (await caches.keys()).filter((one) => one.startsWith(cachePrefix))) {
    const response = await caches.match(url, { cacheName: name, ignoreVary: true });
    if (response) return response;
  }
  return fetch(request);
}

async function freshFirst(url: string, request: Request, event: FetchEvent): Promise<Response> {
  const fromNetwork = fetchAndKeep(url, request);
  const fresh = fromNetwork.catch(() => undefined);
  event.waitUntil(fresh);
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patienceMs));
  const soon = await Promise.race([fresh, late]);
  return soon ?? (await caches.match(url, { cacheName, ignoreVary: true })) ?? fromNetwork;
}

async function fetchAndKeep(url: string, request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.status >= 500) throw new Error(`The server answers ${response.status} for ${url}, expected 200.`);
  // What models a site has may change without a new build. Pages are kept only together with the files they name.
  if (url === modelList && response.ok) await (await caches.open(cacheName)).put(url, response.clone());
  return response;
}
