// Opens a model file in a worker, reads ranges of it, and says what came: one job of the storage tests.
import type { ModelSource } from '../../../web/api.ts';
import { asEngineError } from '../../../web/errors.ts';
import { ModelFile } from '../../../web/storage.ts';

export interface StorageJob {
  source: ModelSource;
  reads: [offset: number, nBytes: number][];
  finish: boolean;
  /** What is broken in this browser. */
  fault?: 'no-opfs' | 'quota' | 'rotten-piece';
}

interface WritePrototype {
  write: (source: ArrayBufferView, options: { at: number }) => number;
}

/** The first write of half a piece or more fails, as on a full disk: the log still fits. */
function breakWrites(): void {
  const { prototype } = (globalThis as unknown as { FileSystemSyncAccessHandle: { prototype: WritePrototype } })
    .FileSystemSyncAccessHandle;
  const write = prototype.write;
  prototype.write = function (source, options) {
    if (source.byteLength > 1 << 20) throw new DOMException('No room', 'QuotaExceededError');
    return write.call(this, source, options);
  };
}

/** Flips a byte in the middle of every stored file. */
async function rot(): Promise<void> {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle('zero-tvm-models');
  for await (const [name, handle] of folder as unknown as AsyncIterable<[string, FileSystemFileHandle]>) {
    if (!name.endsWith('.data')) continue;
    const file = await handle.createSyncAccessHandle();
    const byte = new Uint8Array(1);
    const at = Math.floor(file.getSize() / 2);
    file.read(byte, { at });
    byte[0]! ^= 1;
    file.write(byte, { at });
    file.close();
  }
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function storedFiles(): Promise<string[]> {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle('zero-tvm-models', { create: true });
  const names: string[] = [];
  for await (const [name] of folder as unknown as AsyncIterable<[string, unknown]>) names.push(name);
  return names.sort();
}

async function run({ source, reads, finish, fault }: StorageJob): Promise<object> {
  if (fault === 'no-opfs') StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('No OPFS'));
  if (fault === 'quota') breakWrites();
  if (fault === 'rotten-piece') await rot();
  let nHeard = 0;
  const file = await ModelFile.open(source, (nBytes) => (nHeard += nBytes));
  const { fromStorage } = file;
  try {
    const hashes: string[] = [];
    for (const [offset, nBytes] of reads) {
      const bytes = new Uint8Array(nBytes);
      await file.read(offset, nBytes, (part, at) => bytes.set(part, at));
      hashes.push(await digest(bytes));
    }
    if (finish) await file.finish();
    return { nBytes: file.nBytes, fromStorage, note: file.note, hashes, nHeard };
  } finally {
    file.close();
  }
}

onmessage = async ({ data }: MessageEvent<StorageJob>) => {
  const result = await run(data).catch((error: unknown) => {
    const { code, message } = asEngineError(error);
    return { error: { code, text: message } };
  });
  const files = data.fault === 'no-opfs' ? [] : await storedFiles();
  postMessage({ ...result, files });
};
