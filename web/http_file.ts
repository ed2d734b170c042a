// The pieces of a file on a web server, over several connections: while the engine takes one piece, the next ones are
// on their way.
import { HttpStream } from './http_stream.ts';
import { pieceBytes } from './piece_log.ts';

/** Pieces that one request asks for. */
const segmentPieces = 2;
const nConnections = 4;
/** Below it, one connection is as good. */
const severalFromBytes = 16 << 20;

/** A connection and the work that it has. Segments go round the lanes. */
interface Lane {
  stream: HttpStream;
  idle: Promise<unknown>;
}

export class HttpFile {
  private readonly lanes = new Map<number, Lane>();
  /** Pieces that are here or on their way. */
  private readonly ahead = new Map<number, Promise<Uint8Array>>();

  private constructor(private readonly first: HttpStream) {
    this.lanes.set(0, { stream: first, idle: Promise.resolve() });
  }

  /** Asks for the file's length and version. */
  static async open(url: string, nBytes: number | undefined, onBytes: (nBytes: number) => void): Promise<HttpFile> {
    const first = new HttpStream(url, nBytes, onBytes);
    await first.open();
    return new HttpFile(first);
  }

  /** A file that must have this length and, unless it is '', this version: the first piece() finds out. */
  static known(url: string, nBytes: number, version: string, onBytes: (nBytes: number) => void): HttpFile {
    const first = new HttpStream(url, nBytes, onBytes);
    first.nBytes = nBytes;
    first.version = version;
    return new HttpFile(first);
  }

  get nBytes(): number {
    return this.first.nBytes;
  }

  get version(): string {
    return this.first.version;
  }

  /** A piece; those near behind it that are `wanted` are fetched along. */
  async piece(index: number, wanted: (index: number) => boolean): Promise<Uint8Array> {
    if (!this.ahead.has(index) && this.ahead.size > 0) this.close();
    for (const earlier of this.ahead.keys()) if (earlier < index) this.ahead.delete(earlier);
    this.start(index);
    // Without ranges, each connection would send the file from its start.
    if (this.first.ranged && this.nBytes > severalFromBytes) {
      const segment = Math.floor(index / segmentPieces);
      const end = Math.min((segment + nConnections) * segmentPieces, Math.ceil(this.nBytes / pieceBytes));
      for (let next = index + 1; next < end; ++next) if (wanted(next)) this.start(next);
    }
    const piece = this.ahead.get(index)!;
    this.ahead.delete(index);
    return piece;
  }

  /** Ends every connection; the next piece() makes new ones. */
  close(): void {
    for (const { stream } of this.lanes.values()) stream.stop();
    this.lanes.clear();
    this.ahead.clear();
  }

  private start(index: number): void {
    if (this.ahead.has(index)) return;
    const several = this.first.ranged && this.nBytes > severalFromBytes;
    const segment = Math.floor(index / segmentPieces);
    const lane = this.lane(several ? segment % nConnections : 0);
    const bytes = new Uint8Array(Math.min(pieceBytes, this.nBytes - index * pieceBytes));
    const askUpTo = several ? Math.min((segment + 1) * segmentPieces * pieceBytes, this.nBytes) : undefined;
    const done = lane.idle.then(() => lane.stream.read(index * pieceBytes, bytes, askUpTo)).then(() => bytes);
    // Whoever takes the piece hears of a failure; the lane goes on.
    lane.idle = done.catch(() => {});
    this.ahead.set(index, done);
  }

  private lane(index: number): Lane {
    let lane = this.lanes.get(index);
    if (!lane) {
      lane = { stream: this.first.sibling(), idle: Promise.resolve() };
      this.lanes.set(index, lane);
    }
    return lane;
  }
}
