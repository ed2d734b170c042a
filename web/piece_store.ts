// The pieces of one file in OPFS, each with a hash in the file's log (piece_log.ts). Worker only.
// `KEY.part` gets the bytes and becomes `KEY.data` when it is whole. A piece without its line in the log, or with
// another hash, does not exist.
import { exists, openHandle, sha256 } from './opfs.ts';
import { type FileIdentity, pieceBytes, PieceLog } from './piece_log.ts';

export class PieceStore {
  private constructor(
    readonly log: PieceLog,
    private file: FileSystemFileHandle,
    private data: FileSystemSyncAccessHandle,
    private isCommitted: boolean,
  ) {}

  /** The pieces that belong to a log of kind "data"; without them the log is removed. Throws where they are in use. */
  static async open(log: PieceLog): Promise<PieceStore | undefined> {
    const { folder, key } = log;
    const isCommitted = await exists(folder, `${key}.data`);
    const name = isCommitted ? `${key}.data` : `${key}.part`;
    const data = await openHandle(folder, name, false).catch(closing(log));
    if (!data) {
      await log.remove();
      return undefined;
    }
    return new PieceStore(log, await folder.getFileHandle(name), data, isCommitted);
  }

  /** An empty store for a file; replaces what was there. */
  static async create(identity: FileIdentity): Promise<PieceStore> {
    const log = await PieceLog.create(identity, 'data');
    const data = (await openHandle(log.folder, `${log.key}.part`, true).catch(closing(log)))!;
    return new PieceStore(log, await log.folder.getFileHandle(`${log.key}.part`), data, false);
  }

  has(index: number): boolean {
    return this.log.hashes.has(index);
  }

  /** A piece's bytes if they are stored and still have their hash. */
  async read(index: number): Promise<Uint8Array | undefined> {
    const hash = this.log.hashes.get(index);
    if (!hash) return undefined;
    const bytes = new Uint8Array(this.log.pieceLength(index));
    const nRead = this.data.read(bytes, { at: index * pieceBytes });
    if (nRead === bytes.length && (await sha256(bytes)) === hash) return bytes;
    this.log.hashes.delete(index);
    return undefined;
  }

  /** Stores a piece, then its line: the other order could name bytes that never reached the disk. */
  async write(index: number, bytes: Uint8Array): Promise<void> {
    const nWritten = this.data.write(bytes, { at: index * pieceBytes });
    if (nWritten !== bytes.length) throw new DOMException('Short write', 'QuotaExceededError');
    this.data.flush();
    this.log.note(index, await sha256(bytes));
  }

  /** Notes that nothing more is needed; a file that is whole gets its final name first. */
  async commit(): Promise<void> {
    if (this.log.isWhole && !this.isCommitted) {
      this.data.close();
      await this.file.move(`${this.log.key}.data`);
      this.file = await this.log.folder.getFileHandle(`${this.log.key}.data`);
      this.data = await this.file.createSyncAccessHandle();
      this.isCommitted = true;
    }
    this.log.noteEnough();
  }

  close(): void {
    this.data.close();
    this.log.close();
  }

  async discard(): Promise<void> {
    this.data.close();
    await this.log.remove();
  }
}

/** For a failure after `log` was opened: an open handle would keep every other tab out. */
function closing(log: PieceLog): (error: unknown) => never {
  return (error) => {
    log.close();
    throw error;
  };
}
