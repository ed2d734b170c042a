// Keeps the forms of kernels that were measured on this browser's adapter between two visits: a text that the module makes
// and reads (src/engine/tuning_file.hpp). Where the browser keeps nothing, they are measured again.

const cacheName = 'zero-tvm-tuning';
/** Caches know requests; this one is never made. */
const key = 'https://zero-tvm.invalid/tuning.json';

export async function loadTuning(): Promise<string> {
  try {
    const cache = await caches.open(cacheName);
    const found = await cache.match(key);
    return found ? await found.text() : '';
  } catch {
    return '';
  }
}

export async function saveTuning(text: string): Promise<void> {
  try {
    const cache = await caches.open(cacheName);
    await cache.put(key, new Response(text));
  } catch {
    // A private window, or no room.
  }
}
