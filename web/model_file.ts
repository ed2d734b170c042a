// One file of a model: from this browser's storage, else from WebLLM's cache, else from a server and into storage on
// the way. A piece from storage or cache is used only with the hash that it had when it was first read.
import { EngineError } from './errors.ts';
import { HttpFile, type Receiver } from './http_file.ts';
import { fetchWhole } from './http_whole.ts';
import { sha256 } from './opfs.ts';
import { pieceBytes, PieceLog } from './piece_log.ts';
import { PieceMemory } from './piece_memory.ts';
import { PieceStore } from './piece_store.ts';
import { CachedFile, findCached } from './webllm_cache.ts';

/** storage: OPFS. cache: WebLLM's. server: the page's own. */
export type Place = 'storage' | 'cache' | 'server' | 'network';

export interface FileRequest {
  /** What the file is stored and cached under. */
  url: string;
  /** Where servers have it, the nearest first. */
  addresses: { url: string; place: Place }[];
  /** Its length, where it is known. */
  nBytes?: number | undefined;
  /** Its length is unknown, and at most this: it is read in one go. */
  wholeUpTo?: number | undefined;
  /** It need not exist. */
  optional?: boolean | undefined;
}

/** What the files of a model share. */
export interface FileHost {
  /** Hears of every byte that arrives, from any place. */
  onBytes: (nBytes: number) => void;
  /** Pieces are fetched before they are asked for. */
  readsAhead: boolean;
  /** Files are kept in storage. */
  keeps: boolean;
  memory: PieceMemory;
  /** Says why they are not, and ends it. */
  stopKeeping(error: unknown): void;
}

export class ModelFile {
  nBytes = 0;
  place: Place = 'storage';
  private store: PieceStore | undefined;
  /** Of a file whose bytes lie in WebLLM's cache. */
  private hashes: PieceLog | undefined;
  private cached: CachedFile | undefined;
  private http: HttpFile | undefined;
  /** All of it, fresh from a server. */
  private whole: Uint8Array | undefined;
  /** Pieces of which the host has heard. */
  private readonly told = new Set<number>();
  /** Pieces on their way into storage. */
  private keeping: Promise<void> = Promise.resolve();

  private constructor(
    private readonly request: FileRequest,
    private readonly host: FileHost,
  ) {}

  /** Nothing: the file is optional and does not exist. */
  static async open(request: FileRequest, host: FileHost): Promise<ModelFile | undefined> {
    const file = new ModelFile(request, host);
    try {
      if (await file.find()) return file;
      file.close();
      return undefined;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Hands the bytes of a range to `sink` in order, each part with its place in the range. */
  async read(offset: number, nBytes: number, sink: (part: Uint8Array, at: number) => void): Promise<void> {
    if (offset + nBytes > this.nBytes) {
      throw new EngineError(
        'corrupt_file',
        `The engine asks for bytes ${offset} to ${offset + nBytes}, but ${this.request.url} has only ${this.nBytes}.`,
      );
    }
    for (let at = 0; at < nBytes; ) {
      const index = Math.floor((offset + at) / pieceBytes);
      const start = offset + at - index * pieceBytes;
      const part = (await this.piece(index)).subarray(start, start + nBytes - at);
      sink(part, at);
      this.host.memory.take(this.request.url, index, part.length);
      at += part.length;
    }
  }

  /** The engine reads another file now; what is on its way still comes. True: this one is whole, stored and closed. */
  async rest(): Promise<boolean> {
    this.whole = undefined;
    await this.keeping;
    if ((this.http || this.store) && !this.store?.log.isWhole) return false;
    await this.commit();
    this.close();
    return true;
  }

  /** Nothing more of the file will be asked for. */
  async commit(): Promise<void> {
    this.http?.close();
    await this.keeping;
    await this.store?.commit().catch((error: unknown) => this.stopKeeping(error));
  }

  /** The contents are no good: forgets what is stored of them, and what WebLLM has is not used again. */
  async evict(): Promise<void> {
    this.http?.close();
    await this.keeping;
    await this.store?.discard();
    await this.hashes?.remove();
    this.store = this.hashes = undefined;
    if (this.cached) await this.note('distrusted');
  }

  close(): void {
    this.http?.close();
    this.store?.close();
    this.hashes?.close();
    this.store = this.hashes = this.cached = this.http = this.whole = undefined;
  }

  private async find(): Promise<boolean> {
    const { url, nBytes, optional } = this.request;
    let log = this.host.keeps ? await PieceLog.find(url, nBytes).catch((error: unknown) => this.give(error)) : undefined;
    if (log?.kind === 'missing' && optional) {
      log.close();
      return false;
    }
    if (log?.kind === 'data') {
      this.store = await PieceStore.open(log).catch((error: unknown) => this.give(error));
      this.nBytes = log.identity.nBytes;
      if (this.store && log.enough) return true;
      if (this.store) return this.ask();
      log = undefined;
    }
    const blob = log?.kind === 'distrusted' ? undefined : await findCached(url, nBytes);
    if (blob) {
      await this.useCached(blob, log);
      return true;
    }
    await log?.remove();
    return this.ask();
  }

  /** Takes the bytes from WebLLM's cache, and its hashes from the log of an earlier visit. */
  private async useCached(blob: Blob, log: PieceLog | undefined): Promise<void> {
    this.place = 'cache';
    this.cached = new CachedFile(blob);
    this.nBytes = blob.size;
    if (log?.kind === 'hashes' && log.identity.nBytes === blob.size) {
      this.hashes = log;
      return;
    }
    log?.close();
    if (!this.host.keeps) return;
    const identity = { url: this.request.url, nBytes: blob.size, version: '' };
    this.hashes = await PieceLog.create(identity, 'hashes').catch((error: unknown) => this.give(error));
  }

  /** Asks the servers in turn. False: none has it. */
  private async ask(): Promise<boolean> {
    const { addresses, optional } = this.request;
    for (const [i, { url, place }] of addresses.entries()) {
      this.place = place;
      try {
        await this.askAt(url);
        return true;
      } catch (error) {
        // What the nearer server lacks, or answers with a page, the next may have.
        if (i + 1 < addresses.length) continue;
        if (!optional || !(error instanceof EngineError) || error.code !== 'not_found') throw error;
      }
    }
    if (addresses.length > 0) await this.note('missing');
    return false;
  }

  private async askAt(url: string): Promise<void> {
    const { wholeUpTo } = this.request;
    if (wholeUpTo === undefined) {
      this.http = await HttpFile.open(url, this.request.nBytes, this.store !== undefined, this.receiver);
      this.nBytes = this.http.nBytes;
      await this.matchStore(this.http.version);
      this.http.fetchStart(this.wanted);
      return;
    }
    const { bytes, version } = await fetchWhole(url, wholeUpTo, this.host.onBytes);
    this.whole = bytes;
    this.nBytes = bytes.length;
    await this.matchStore(version);
    for (let at = 0, index = 0; at < bytes.length; at += pieceBytes, ++index) {
      this.told.add(index);
      this.keep(index, bytes.subarray(at, at + pieceBytes));
    }
    await this.keeping;
  }

  /** Goes on with what is stored of this very version of the file, else starts anew: also where no version is told. */
  private async matchStore(version: string): Promise<void> {
    const stored = this.store?.log.identity;
    if (version && stored && stored.nBytes === this.nBytes && stored.version === version) return;
    this.store?.close();
    this.store = undefined;
    if (!this.host.keeps) return;
    const identity = { url: this.request.url, nBytes: this.nBytes, version };
    this.store = await PieceStore.create(identity).catch((error: unknown) => this.give(error));
  }

  /** A log that only says something of the file. */
  private async note(kind: 'missing' | 'distrusted'): Promise<void> {
    if (!this.host.keeps) return;
    const identity = { url: this.request.url, nBytes: 0, version: '' };
    const log = await PieceLog.create(identity, kind).catch((error: unknown) => this.give(error));
    log?.close();
  }

  private async piece(index: number): Promise<Uint8Array> {
    const { memory } = this.host;
    const { url } = this.request;
    this.http?.fetchAhead(index, this.wanted);
    const here = this.whole?.subarray(index * pieceBytes, (index + 1) * pieceBytes) ?? memory.get(url, index);
    if (here) return here;
    if (this.http?.isComing(index)) return this.http.piece(index, this.wanted);
    if (this.told.has(index)) await this.keeping;
    const bytes = (await this.store?.read(index)) ?? (await this.cachedPiece(index));
    if (!bytes) return this.fetchPiece(index);
    this.tell(index, bytes.length);
    memory.put(url, index, bytes);
    return bytes;
  }

  /** A piece worth fetching before it is asked for. */
  private readonly wanted = (index: number): boolean =>
    this.host.readsAhead && !this.cached && !this.store?.has(index) && !this.told.has(index);

  private readonly receiver: Receiver = {
    onBytes: (nBytes) => this.host.onBytes(nBytes),
    onPiece: (index, bytes) => {
      this.told.add(index);
      this.host.memory.put(this.request.url, index, bytes);
      this.keep(index, bytes);
    },
  };

  /** A piece that is read again does not count again. */
  private tell(index: number, nBytes: number): void {
    if (this.told.has(index)) return;
    this.told.add(index);
    this.host.onBytes(nBytes);
  }

  /** A piece of WebLLM's file, if it has the hash of the first time. */
  private async cachedPiece(index: number): Promise<Uint8Array | undefined> {
    const bytes = await this.cached?.piece(index).catch(() => undefined);
    if (!bytes) return undefined;
    const hash = await sha256(bytes);
    const known = this.hashes?.hashes.get(index);
    if (known) return known === hash ? bytes : undefined;
    try {
      this.hashes?.note(index, hash);
    } catch (error) {
      this.give(error);
    }
    return bytes;
  }

  private async fetchPiece(index: number): Promise<Uint8Array> {
    if (this.http) return this.fetchFrom(this.http, index);
    // A piece of a stored or cached file that is not there or no longer good.
    const { addresses } = this.request;
    const version = this.store?.log.identity.version ?? '';
    if (this.store && !version) {
      await this.evict();
      throw new EngineError(
        'corrupt_file',
        `A stored piece of ${this.request.url} is no good, and its server tells no version; load it again.`,
      );
    }
    for (const [i, { url, place }] of addresses.entries()) {
      const http = HttpFile.known(url, this.nBytes, version, this.receiver);
      try {
        const bytes = await this.fetchFrom(http, index);
        this.http = http;
        this.place = place;
        return bytes;
      } catch (error) {
        http.close();
        if (i + 1 < addresses.length) continue;
        // The stored pieces are of a file that is no more.
        if (error instanceof EngineError && error.code !== 'network') await this.evict();
        throw error;
      }
    }
    throw new EngineError('internal', `Nobody has ${this.request.url}.`);
  }

  private fetchFrom(http: HttpFile, index: number): Promise<Uint8Array> {
    const piece = http.piece(index, this.wanted);
    http.fetchAhead(index, this.wanted);
    return piece;
  }

  /** Stores a piece when those before it are stored. */
  private keep(index: number, bytes: Uint8Array): void {
    this.keeping = this.keeping.then(async () => {
      const { store } = this;
      await store?.write(index, bytes).catch((error: unknown) => {
        // A store that was closed meanwhile is not broken.
        if (store === this.store) return this.stopKeeping(error);
      });
    });
  }

  /** Goes on without storage: the person gets their answers, and a note. */
  private async stopKeeping(error: unknown): Promise<void> {
    this.give(error);
    const store = this.store;
    this.store = undefined;
    await store?.discard();
  }

  private give(error: unknown): undefined {
    this.host.stopKeeping(error);
  }
}
