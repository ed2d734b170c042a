// One file in the browser's private file system (OPFS), kept as pieces that each have a hash. Worker only.
// `KEY.part` gets the bytes and becomes `KEY.data` when it is whole; `KEY.log` is text: a header, a line for each
// verified piece, and "complete" at the end. A piece without its line, or with another hash, does not exist.

export const pieceBytes = 4 << 20;

/** What must agree for stored pieces to be used. */
export interface FileIdentity {
  url: string;
  nBytes: number;
  /** ETag or date of the server; '' in the identity means: any. */
  version: string;
}

const folderName = 'zero-tvm-models';
const logFormat = 1;

export class PieceStore {
  private hashes = new Map<number, string>();
  private readonly encoder = new TextEncoder();
  complete = false;

  private constructor(
    private readonly folder: FileSystemDirectoryHandle,
    private readonly key: string,
    private file: FileSystemFileHandle,
    private data: FileSystemSyncAccessHandle,
    private readonly log: FileSystemSyncAccessHandle,
    readonly identity: FileIdentity,
  ) {}

  /** The stored file of this URL if there is one of any state, else nothing. Throws where OPFS is missing or in use. */
  static async find(url: string, nBytes: number | undefined): Promise<PieceStore | undefined> {
    const folder = await openFolder();
    const key = await keyOf(url);
    const log = await openHandle(folder, `${key}.log`, false);
    if (!log) return undefined;
    const lines = readAll(log).split('\n');
    const identity = parseHeader(lines[0] ?? '');
    const name = (await exists(folder, `${key}.data`)) ? `${key}.data` : `${key}.part`;
    const usable = identity && identity.url === url && (!nBytes || identity.nBytes === nBytes);
    const data = usable && (await openHandle(folder, name, false).catch(closing(log)));
    if (!data) {
      log.close();
      await removeFiles(folder, key);
      return undefined;
    }
    const store = new PieceStore(folder, key, await folder.getFileHandle(name), data, log, identity);
    store.readLog(lines.slice(1));
    return store;
  }

  /** An empty store for a file; replaces what was there. */
  static async create(identity: FileIdentity): Promise<PieceStore> {
    const folder = await openFolder();
    const key = await keyOf(identity.url);
    await removeFiles(folder, key);
    const log = (await openHandle(folder, `${key}.log`, true))!;
    const data = (await openHandle(folder, `${key}.part`, true).catch(closing(log)))!;
    const store = new PieceStore(folder, key, await folder.getFileHandle(`${key}.part`), data, log, identity);
    store.append(JSON.stringify({ format: logFormat, piece_bytes: pieceBytes, ...identity }));
    return store;
  }

  get nPieces(): number {
    return Math.ceil(this.identity.nBytes / pieceBytes);
  }

  has(index: number): boolean {
    return this.hashes.has(index);
  }

  /** A piece's bytes if they are stored and still have their hash. */
  async read(index: number): Promise<Uint8Array | undefined> {
    const hash = this.hashes.get(index);
    if (!hash) return undefined;
    const bytes = new Uint8Array(Math.min(pieceBytes, this.identity.nBytes - index * pieceBytes));
    const nRead = this.data.read(bytes, { at: index * pieceBytes });
    if (nRead === bytes.length && (await sha256(bytes)) === hash) return bytes;
    this.hashes.delete(index);
    return undefined;
  }

  /** Stores a piece, then its line: the other order could name bytes that never reached the disk. */
  async write(index: number, bytes: Uint8Array): Promise<void> {
    const nWritten = this.data.write(bytes, { at: index * pieceBytes });
    if (nWritten !== bytes.length) throw new DOMException('Short write', 'QuotaExceededError');
    this.data.flush();
    const hash = await sha256(bytes);
    this.append(`${index} ${hash}`);
    this.hashes.set(index, hash);
  }

  /** Gives the whole file its final name and notes that it is complete. */
  async commit(): Promise<void> {
    if (this.complete) return;
    this.data.close();
    await this.file.move(`${this.key}.data`);
    this.file = await this.folder.getFileHandle(`${this.key}.data`);
    this.data = await this.file.createSyncAccessHandle();
    this.append('complete');
    this.complete = true;
  }

  close(): void {
    this.data.close();
    this.log.close();
  }

  async discard(): Promise<void> {
    this.close();
    await removeFiles(this.folder, this.key);
  }

  private readLog(lines: string[]): void {
    for (const line of lines) {
      const piece = /^(\d+) ([0-9a-f]{64})$/.exec(line);
      if (piece) this.hashes.set(Number(piece[1]), piece[2]!);
      if (line === 'complete') this.complete = true;
    }
  }

  private append(line: string): void {
    this.log.write(this.encoder.encode(`${line}\n`), { at: this.log.getSize() });
    this.log.flush();
  }
}

async function openFolder(): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(folderName, { create: true });
}

/** A file name for a URL: readable end, hash against clashes. */
async function keyOf(url: string): Promise<string> {
  const name = new URL(url).pathname.split('/').pop() ?? '';
  const hash = await sha256(new TextEncoder().encode(url));
  return `${name.replace(/[^\w.-]/g, '_')}-${hash.slice(0, 16)}`;
}

function parseHeader(line: string): FileIdentity | undefined {
  try {
    const { format, piece_bytes, url, nBytes, version } = JSON.parse(line) as Record<string, unknown>;
    if (format !== logFormat || piece_bytes !== pieceBytes) return undefined;
    if (typeof url !== 'string' || typeof nBytes !== 'number' || typeof version !== 'string') return undefined;
    return { url, nBytes, version };
  } catch {
    return undefined;
  }
}

async function exists(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  return folder.getFileHandle(name).then(
    () => true,
    () => false,
  );
}

/** Opens a file, and waits a little for another tab that has it open. */
async function openHandle(
  folder: FileSystemDirectoryHandle,
  name: string,
  create: boolean,
): Promise<FileSystemSyncAccessHandle | undefined> {
  if (!create && !(await exists(folder, name))) return undefined;
  const file = await folder.getFileHandle(name, { create });
  for (let nTries = 1; ; ++nTries) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      if (nTries === 10 || !(error instanceof DOMException && error.name === 'NoModificationAllowedError')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** For a failure after `log` was opened: an open handle would keep every other tab out. */
function closing(log: FileSystemSyncAccessHandle): (error: unknown) => never {
  return (error) => {
    log.close();
    throw error;
  };
}

async function removeFiles(folder: FileSystemDirectoryHandle, key: string): Promise<void> {
  for (const suffix of ['log', 'part', 'data']) {
    if (await exists(folder, `${key}.${suffix}`)) await folder.removeEntry(`${key}.${suffix}`);
  }
}

function readAll(handle: FileSystemSyncAccessHandle): string {
  const bytes = new Uint8Array(handle.getSize());
  handle.read(bytes, { at: 0 });
  return new TextDecoder().decode(bytes);
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
