// Opens a model's files in a worker, reads ranges of them, and says what came: one job of the storage tests.
import type { ModelSource } from '../../../web/api.ts';
import { asEngineError } from '../../../web/errors.ts';
import { ModelFiles } from '../../../web/model_files.ts';

/** A range of a file; without one, the whole file, as the engine reads configs. */
export interface Read {
  file: string;
  range?: [offset: number, nBytes: number];
  maxBytes?: number;
  optional?: boolean;
}

export interface StorageJob {
  source: ModelSource;
  reads: Read[];
  finish: boolean;
  /** The engine refuses what it got. */
  evict?: boolean;
  readAhead?: boolean;
  /** What is broken in this browser. */
  fault?: 'no-opfs' | 'quota' | 'rotten-piece' | undefined;
}

/** The pauses between tries (web/http_checks.ts), shortened; the wait for another tab's files is as it is. */
const pausesFromMs = 250;
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = ((work: () => void, ms = 0) => wait(work, ms < pausesFromMs ? ms : ms / 20)) as typeof setTimeout;

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

/** The hash of what was read; nothing where an optional file is missing. */
async function read(files: ModelFiles, { file, range, maxBytes = 1 << 24, optional = false }: Read): Promise<string | null> {
  const nFileBytes = await files.open(file, range ? undefined : { maxBytes, optional });
  if (nFileBytes === undefined) return null;
  const [offset, nBytes] = range ?? [0, nFileBytes];
  const bytes = new Uint8Array(nBytes);
  await files.read(file, offset, nBytes, (part, at) => bytes.set(part, at));
  return digest(bytes);
}

async function run({ source, reads, finish, evict, readAhead, fault }: StorageJob): Promise<object> {
  if (fault === 'no-opfs') StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('No OPFS'));
  if (fault === 'quota') breakWrites();
  if (fault === 'rotten-piece') await rot();
  let nHeard = 0;
  const files = new ModelFiles(source, (nBytes) => (nHeard += nBytes));
  if (readAhead) files.readAhead();
  try {
    const hashes: (string | null)[] = [];
    const places: string[] = [];
    for (const one of reads) {
      hashes.push(await read(files, one));
      places.push(files.place);
    }
    if (finish) await files.finish();
    if (evict) await files.evict();
    return { fromStorage: files.fromStorage, note: files.note, hashes, places, nHeard };
  } finally {
    files.close();
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
