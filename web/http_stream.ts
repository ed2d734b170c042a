// The bytes of a file on a web server, from any offset on, over as few requests as the order of reading allows.
import { EngineError } from './errors.ts';
import { ask, PassingError, plainLength, refuseOtherThanModel, retrying, versionOf } from './http_checks.ts';

/** A gap that is sooner read over than asked around. */
const nearBytes = 1 << 16;

export class HttpStream {
  /** The file's length, and what tells one version of it from another; known after open(), or from before. */
  nBytes = 0;
  version = '';
  /** The server answers with the part of the file that was asked for. */
  ranged = false;
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private position = 0;
  /** Where the running answer ends. */
  private end = 0;
  private rest = new Uint8Array(0);
  private abort = new AbortController();
  private stopped = false;

  constructor(
    private readonly url: string,
    private readonly expectedBytes: number | undefined,
    private readonly onBytes: (nBytes: number) => void,
  ) {}

  /** Asks the server for the file's length and version, and for its start. */
  async open(nStartBytes: number): Promise<void> {
    await this.retrying(() => this.request(0, nStartBytes));
    // Another origin may hide Content-Range; then only an answer with all of the file tells how long it is.
    if (this.nBytes === 0) await this.retrying(() => this.request(0, undefined));
  }

  /** Another stream of the same file, which must still have the same length and version. */
  sibling(): HttpStream {
    const other = new HttpStream(this.url, this.expectedBytes, this.onBytes);
    other.nBytes = this.nBytes;
    other.version = this.version;
    other.ranged = this.ranged;
    return other;
  }

  /** Fills `target` with the bytes from `offset` on. A broken connection goes on where it broke. */
  async read(offset: number, target: Uint8Array, askUpTo?: number): Promise<void> {
    let filled = 0;
    while (filled < target.length) {
      await this.retrying(async () => {
        await this.seek(offset + filled, askUpTo);
        filled += await this.pull(target.subarray(filled));
      });
    }
  }

  /** Ends the stream for good; a read that is under way fails. */
  stop(): void {
    this.stopped = true;
    this.close();
  }

  private close(): void {
    this.abort.abort();
    this.reader = undefined;
    this.rest = new Uint8Array(0);
  }

  private retrying(work: () => Promise<void>): Promise<void> {
    return retrying(work, () => this.close());
  }

  private async seek(offset: number, askUpTo: number | undefined): Promise<void> {
    const ahead = offset - this.position;
    const isFar = this.ranged && (ahead > nearBytes || offset >= this.end);
    if (!this.reader || ahead < 0 || isFar) await this.request(offset, askUpTo);
    // A server without range requests sends the file from its start: read up to the offset.
    const skipped = new Uint8Array(Math.min(offset - this.position, 1 << 20));
    while (this.position < offset) await this.pull(skipped.subarray(0, offset - this.position));
  }

  private async pull(target: Uint8Array): Promise<number> {
    if (this.rest.length === 0) this.rest = await this.chunk();
    const taken = this.rest.subarray(0, target.length);
    target.set(taken);
    this.rest = this.rest.subarray(taken.length);
    this.position += taken.length;
    return taken.length;
  }

  private async chunk(): Promise<Uint8Array<ArrayBuffer>> {
    const { value, done } = await this.reader!.read().catch((error: unknown) => {
      throw new PassingError(`The download of ${this.url} broke off after ${this.position} bytes (${String(error)}).`);
    });
    if (done) {
      throw new PassingError(`The download of ${this.url} ended after ${this.position} bytes, expected ${this.end}.`);
    }
    this.onBytes(value.length);
    return value as Uint8Array<ArrayBuffer>;
  }

  private async request(offset: number, askUpTo: number | undefined): Promise<void> {
    this.close();
    if (this.stopped) throw new EngineError('network', `The download of ${this.url} was stopped.`);
    this.abort = new AbortController();
    const range = `bytes=${offset}-${askUpTo === undefined ? '' : askUpTo - 1}`;
    const response = await ask(this.url, { headers: { Range: range }, signal: this.abort.signal }, offset);
    this.ranged = response.status === 206;
    this.position = this.ranged ? offset : 0;
    this.reader = response.body!.getReader();
    this.end = this.nBytes;
    if (this.position === 0) {
      // Before the length is judged: "is an HTML page" says more than "has 312 bytes".
      this.rest = await this.chunk();
      refuseOtherThanModel(this.rest, this.url);
    }
    this.checkRange(response, offset, askUpTo);
    this.checkVersion(response);
  }

  /** Notes the length, and refuses a server that sends another range or length than asked for. */
  private checkRange(response: Response, offset: number, askUpTo: number | undefined): void {
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('Content-Range') ?? '');
    if (this.ranged && range && Number(range[1]) !== offset) {
      throw new EngineError('network', `The server sends ${this.url} from byte ${range[1]} on, asked for ${offset}.`);
    }
    // After an open range, Content-Length counts the rest of the file.
    const plain = this.ranged && askUpTo !== undefined ? 0 : plainLength(response);
    const total = range ? Number(range[3]) : plain > 0 ? plain + (this.ranged ? offset : 0) : 0;
    const expected = this.nBytes || this.expectedBytes;
    if (total > 0 && expected && total !== expected) {
      throw new EngineError('corrupt_file', `${this.url} has ${total} bytes, expected ${expected}.`);
    }
    if (total === 0 && !expected) {
      if (this.ranged && askUpTo !== undefined) return;
      throw new EngineError('network', `The server does not say how long ${this.url} is.`);
    }
    this.nBytes = total || expected!;
    this.end = this.ranged && range ? Number(range[2]) + 1 : this.ranged && askUpTo ? askUpTo : this.nBytes;
  }

  private checkVersion(response: Response): void {
    const version = versionOf(response);
    if (this.version && version !== this.version) {
      throw new EngineError('corrupt_file', `${this.url} changed on the server during the download; load it again.`);
    }
    this.version = version;
  }
}
