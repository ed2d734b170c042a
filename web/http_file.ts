// The pieces of a file on a web server, over several connections. A piece that was begun is delivered, whatever is asked
// for meanwhile: jumps in the order of reading cost no byte twice.
import { HttpStream } from './http_stream.ts';
import { pieceBytes } from './piece_log.ts';

/** Pieces that one request asks for. */
const segmentPieces = 2;
const segmentBytes = segmentPieces * pieceBytes;
const nConnections = 4;
/** Below it, one connection is as good. */
const severalFromBytes = 16 << 20;
/** Enough to tell a model from a page, where pieces of the file are here already. */
const glanceBytes = 1024;

/** A connection and the work that it has. Segments go round the lanes. */
interface Lane {
  stream: HttpStream;
  idle: Promise<unknown>;
}

/** Hears of a file's bytes as they arrive, and gets its pieces, asked for or not. */
export interface Receiver {
  onBytes(nBytes: number): void;
  onPiece(index: number, bytes: Uint8Array): void;
}

export class HttpFile {
  private readonly lanes = new Map<number, Lane>();
  /** Pieces on their way. */
  private readonly coming = new Map<number, Promise<Uint8Array>>();

  private constructor(
    private readonly first: HttpStream,
    private readonly receiver: Receiver,
  ) {
    this.lanes.set(0, { stream: first, idle: Promise.resolve() });
  }

  /** Asks for the file's length and version; its start comes along unless this is only a `glance`. */
  static async open(url: string, nBytes: number | undefined, glance: boolean, receiver: Receiver): Promise<HttpFile> {
    const first = new HttpStream(url, nBytes, (n) => receiver.onBytes(n));
    await first.open(glance ? glanceBytes : segmentBytes);
    return new HttpFile(first, receiver);
  }

  /** A file that must have this length and, unless it is '', this version: the first piece() finds out. */
  static known(url: string, nBytes: number, version: string, receiver: Receiver): HttpFile {
    const first = new HttpStream(url, nBytes, (n) => receiver.onBytes(n));
    first.nBytes = nBytes;
    first.version = version;
    first.ranged = true;
    return new HttpFile(first, receiver);
  }

  get nBytes(): number {
    return this.first.nBytes;
  }

  get version(): string {
    return this.first.version;
  }

  /** A piece that is on its way, or is asked for now. */
  piece(index: number, wanted: (index: number) => boolean): Promise<Uint8Array> {
    // Going back would cost a request, and what the connection has in its buffers: the pieces of one come in order.
    const first = this.several ? index - (index % segmentPieces) : 0;
    for (let earlier = first; earlier < index; ++earlier) if (wanted(earlier)) this.start(earlier, wanted);
    this.start(index, wanted);
    return this.coming.get(index)!;
  }

  isComing(index: number): boolean {
    return this.coming.has(index);
  }

  /** Starts the pieces that open() asked for. */
  fetchStart(wanted: (index: number) => boolean): void {
    for (let index = 0; index < Math.min(segmentPieces, this.nPieces); ++index) if (wanted(index)) this.start(index, wanted);
  }

  /** Starts the pieces near behind this one that are `wanted`. */
  fetchAhead(index: number, wanted: (index: number) => boolean): void {
    // Without ranges, each connection would send the file from its start.
    if (!this.several) return;
    const segment = Math.floor(index / segmentPieces);
    const end = Math.min((segment + nConnections) * segmentPieces, this.nPieces);
    for (let next = index + 1; next < end; ++next) if (wanted(next)) this.start(next, wanted);
  }

  /** Ends every connection; the next piece() makes new ones. */
  close(): void {
    for (const { stream } of this.lanes.values()) stream.stop();
    this.lanes.clear();
    this.coming.clear();
  }

  private get nPieces(): number {
    return Math.ceil(this.nBytes / pieceBytes);
  }

  /** Pieces come over several connections, each for a range. */
  private get several(): boolean {
    const areRanged = this.first.ranged && [...this.lanes.values()].every(({ stream }) => stream.ranged);
    return areRanged && this.nBytes > severalFromBytes;
  }

  private start(index: number, wanted: (index: number) => boolean): void {
    if (this.coming.has(index)) return;
    const { several } = this;
    const segment = Math.floor(index / segmentPieces);
    const lane = this.lane(several ? segment % nConnections : 0);
    const bytes = new Uint8Array(Math.min(pieceBytes, this.nBytes - index * pieceBytes));
    let end = index + 1;
    while (end < (segment + 1) * segmentPieces && wanted(end)) ++end;
    const askUpTo = several ? Math.min(end * pieceBytes, this.nBytes) : undefined;
    const done = lane.idle
      .then(() => lane.stream.read(index * pieceBytes, bytes, askUpTo))
      .then(() => {
        // What arrives behind close() is nobody's.
        if (this.coming.get(index) === done) this.receiver.onPiece(index, bytes);
        return bytes;
      })
      .finally(() => {
        if (this.coming.get(index) === done) this.coming.delete(index);
      });
    // Whoever asks for the piece hears of a failure; the lane goes on.
    lane.idle = done.catch(() => {});
    this.coming.set(index, done);
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
