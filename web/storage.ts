// A model file, from this browser's storage where it is there, else from its server and into storage on the way.
import { EngineError } from './errors.ts';
import type { ModelSource } from './api.ts';
import { HttpStream } from './http_stream.ts';
import { PieceStore, pieceBytes } from './piece_store.ts';

export class ModelFile {
  /** Why the file is not kept, for the person who waits for it. */
  note: string | undefined;
  private lastPiece: { index: number; bytes: Uint8Array } | undefined;

  private constructor(
    readonly nBytes: number,
    private readonly http: HttpStream,
    private store: PieceStore | undefined,
    private readonly onBytes: (nBytes: number) => void,
  ) {}

  /** `onBytes` hears of every byte that is read, from either place. A complete stored file needs no network. */
  static async open(source: ModelSource, onBytes: (nBytes: number) => void): Promise<ModelFile> {
    const url = new URL(source.url, location.href).href;
    const http = new HttpStream(url, source.nBytes, onBytes);
    const { store, note } = await findStore(url, source.nBytes);
    if (store?.complete) return new ModelFile(store.identity.nBytes, http, store, onBytes);
    await http.open().catch((error: unknown) => {
      store?.close();
      throw error;
    });
    const file = new ModelFile(http.nBytes, http, store, onBytes);
    file.note = note;
    if (!note) await file.matchStore({ url, nBytes: http.nBytes, version: http.version });
    return file;
  }

  get fromStorage(): boolean {
    return this.store?.complete ?? false;
  }

  /** Hands the bytes of a range to `sink` in order, each part with its place in the range. */
  async read(offset: number, nBytes: number, sink: (part: Uint8Array, at: number) => void): Promise<void> {
    if (offset + nBytes > this.nBytes) {
      throw new EngineError(
        'corrupt_file',
        `The engine asks for bytes ${offset} to ${offset + nBytes}, but the model file has only ${this.nBytes}.`,
      );
    }
    for (let at = 0; at < nBytes; ) {
      const index = Math.floor((offset + at) / pieceBytes);
      const start = offset + at - index * pieceBytes;
      const part = (await this.piece(index)).subarray(start, start + nBytes - at);
      sink(part, at);
      at += part.length;
    }
  }

  /** Fetches what nobody has read yet, so that the stored file is whole, and commits it. */
  async finish(): Promise<void> {
    for (let index = 0; this.store && index < this.store.nPieces; ++index) {
      if (!this.store.has(index)) await this.piece(index);
    }
    await this.store?.commit().catch((error: unknown) => this.giveUpStoring(error));
  }

  close(): void {
    this.http.close();
    this.store?.close();
    this.store = undefined;
    this.lastPiece = undefined;
  }

  private async matchStore(identity: { url: string; nBytes: number; version: string }): Promise<void> {
    const stored = this.store?.identity;
    if (stored && stored.nBytes === identity.nBytes && stored.version === identity.version) return;
    this.store?.close();
    this.store = undefined;
    await PieceStore.create(identity).then(
      (store) => (this.store = store),
      (error: unknown) => this.giveUpStoring(error),
    );
  }

  private async piece(index: number): Promise<Uint8Array> {
    if (this.lastPiece?.index === index) return this.lastPiece.bytes;
    let bytes = await this.store?.read(index);
    if (bytes) {
      this.onBytes(bytes.length);
    } else {
      bytes = new Uint8Array(Math.min(pieceBytes, this.nBytes - index * pieceBytes));
      await this.http.read(index * pieceBytes, bytes);
      await this.keep(index, bytes);
    }
    this.lastPiece = { index, bytes };
    return bytes;
  }

  private async keep(index: number, bytes: Uint8Array): Promise<void> {
    await this.store?.write(index, bytes).catch((error: unknown) => this.giveUpStoring(error));
  }

  /** Goes on without storage: the person gets their answers, and a note. */
  private async giveUpStoring(error: unknown): Promise<void> {
    this.note = noteOn(error, this.nBytes);
    const store = this.store;
    this.store = undefined;
    await store?.discard();
  }
}

async function findStore(url: string, nBytes: number | undefined): Promise<{ store?: PieceStore; note?: string }> {
  try {
    const store = await PieceStore.find(url, nBytes);
    return store ? { store } : {};
  } catch (error) {
    return { note: noteOn(error, nBytes) };
  }
}

function noteOn(error: unknown, nBytes: number | undefined): string {
  const name = error instanceof DOMException ? error.name : '';
  const again = 'It works now and is downloaded again next time.';
  if (name === 'QuotaExceededError') {
    const size = nBytes ? ` (${Math.ceil(nBytes / 1e6)} MB)` : '';
    return `This browser has no room to keep the model${size}. ${again}`;
  }
  if (name === 'NoModificationAllowedError') return `Another tab is storing this model. ${again}`;
  return `This browser cannot keep the model (${String(error)}). ${again}`;
}
