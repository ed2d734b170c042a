// What is known of one stored file, as text in OPFS: a header, a line for each verified piece, and at the end
// "complete" (every piece is there) or "enough" (every piece that the engine asked for is there). Worker only.
import { exists, openFolder, openHandle, sha256 } from './opfs.ts';

export const pieceBytes = 4 << 20;

/** What must agree for stored pieces to be used. */
export interface FileIdentity {
  url: string;
  nBytes: number;
  /** ETag or date of the server; '' in the identity means: any. */
  version: string;
}

/**
 * data: pieces lie beside the log. hashes: the bytes lie in WebLLM's cache and are only judged. distrusted: what lies
 * there is no good. missing: no server has the file.
 */
const kinds = ['data', 'hashes', 'distrusted', 'missing'] as const;
export type LogKind = (typeof kinds)[number];

const logFormat = 1;

export class PieceLog {
  readonly hashes = new Map<number, string>();
  /** Nothing more is needed of the network. */
  enough = false;
  private readonly encoder = new TextEncoder();

  private constructor(
    readonly folder: FileSystemDirectoryHandle,
    readonly key: string,
    readonly kind: LogKind,
    readonly identity: FileIdentity,
    private readonly handle: FileSystemSyncAccessHandle,
  ) {}

  /** The log of this URL; a damaged one, or one of a file with another length, is removed. */
  static async find(url: string, nBytes: number | undefined): Promise<PieceLog | undefined> {
    const folder = await openFolder();
    const key = await keyOf(url);
    const handle = await openHandle(folder, `${key}.log`, false);
    if (!handle) return undefined;
    const [header = '', ...lines] = readAll(handle).split('\n');
    const parsed = parseHeader(header);
    if (!parsed || parsed.identity.url !== url || (nBytes && parsed.identity.nBytes !== nBytes)) {
      handle.close();
      await removeFiles(folder, key);
      return undefined;
    }
    const log = new PieceLog(folder, key, parsed.kind, parsed.identity, handle);
    log.readLines(lines);
    return log;
  }

  /** An empty log; replaces what was stored under this URL. */
  static async create(identity: FileIdentity, kind: LogKind): Promise<PieceLog> {
    const folder = await openFolder();
    const key = await keyOf(identity.url);
    await removeFiles(folder, key);
    const handle = (await openHandle(folder, `${key}.log`, true))!;
    const log = new PieceLog(folder, key, kind, identity, handle);
    try {
      log.append(JSON.stringify({ format: logFormat, piece_bytes: pieceBytes, kind, ...identity }));
    } catch (error) {
      await log.remove();
      throw error;
    }
    return log;
  }

  get nPieces(): number {
    return Math.ceil(this.identity.nBytes / pieceBytes);
  }

  /** Every piece has its line. */
  get isWhole(): boolean {
    return this.hashes.size === this.nPieces;
  }

  pieceLength(index: number): number {
    return Math.min(pieceBytes, this.identity.nBytes - index * pieceBytes);
  }

  note(index: number, hash: string): void {
    this.append(`${index} ${hash}`);
    this.hashes.set(index, hash);
  }

  noteEnough(): void {
    if (this.enough) return;
    this.append(this.isWhole ? 'complete' : 'enough');
    this.enough = true;
  }

  close(): void {
    this.handle.close();
  }

  /** Removes the log and the pieces beside it. */
  async remove(): Promise<void> {
    this.close();
    await removeFiles(this.folder, this.key);
  }

  private readLines(lines: string[]): void {
    for (const line of lines) {
      const piece = /^(\d+) ([0-9a-f]{64})$/.exec(line);
      if (piece) this.hashes.set(Number(piece[1]), piece[2]!);
      if (line === 'complete' || line === 'enough') this.enough = true;
    }
  }

  private append(line: string): void {
    const bytes = this.encoder.encode(`${line}\n`);
    if (this.handle.write(bytes, { at: this.handle.getSize() }) !== bytes.length) {
      throw new DOMException('Short write', 'QuotaExceededError');
    }
    this.handle.flush();
  }
}

/** The header of a log, from its first line. */
export function parseHeader(line: string): { kind: LogKind; identity: FileIdentity } | undefined {
  try {
    const { format, piece_bytes, kind = 'data', url, nBytes, version } = JSON.parse(line) as Record<string, unknown>;
    if (format !== logFormat || piece_bytes !== pieceBytes) return undefined;
    if (!kinds.includes(kind as LogKind)) return undefined;
    if (typeof url !== 'string' || typeof nBytes !== 'number' || typeof version !== 'string') return undefined;
    return { kind: kind as LogKind, identity: { url, nBytes, version } };
  } catch {
    return undefined;
  }
}

/** A file name for a URL: readable end, hash against clashes. */
async function keyOf(url: string): Promise<string> {
  const name = new URL(url).pathname.split('/').pop() ?? '';
  const hash = await sha256(new TextEncoder().encode(url));
  return `${name.replace(/[^\w.-]/g, '_')}-${hash.slice(0, 16)}`;
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
