// Files that WebLLM has downloaded on this origin, in the Cache API: read, never changed. Facts from mlc-ai/web-llm
// (src/cache_util.ts, src/support.ts): shards and tokenizer in "webllm/model", mlc-chat-config.json in
// "webllm/config", each under its address https://huggingface.co/OWNER/NAME/resolve/main/FILE.
import { refuseOtherThanModel } from './http_checks.ts';
import { pieceBytes } from './piece_log.ts';

const cacheNames = ['webllm/model', 'webllm/config'];

/** The file of this address, if it is there and has the expected length, if one is expected. */
export async function findCached(url: string, nBytes: number | undefined): Promise<Blob | undefined> {
  if (!('caches' in globalThis)) return undefined; // Not a secure page.
  for (const name of cacheNames) {
    try {
      if (!(await caches.has(name))) continue; // open() would make it.
      const cache = await caches.open(name);
      const response = await cache.match(url, { ignoreVary: true });
      if (!response?.ok) continue;
      const blob = await response.blob();
      if (nBytes !== undefined && blob.size !== nBytes) continue;
      refuseOtherThanModel(new Uint8Array(await blob.slice(0, 40).arrayBuffer()), url);
      return blob;
    } catch {
      // What cannot be used is fetched as if it were not there.
    }
  }
  return undefined;
}

/** A cached file as a source of pieces. */
export class CachedFile {
  constructor(private readonly blob: Blob) {}

  get nBytes(): number {
    return this.blob.size;
  }

  async piece(index: number): Promise<Uint8Array> {
    return new Uint8Array(await this.blob.slice(index * pieceBytes, (index + 1) * pieceBytes).arrayBuffer());
  }
}
