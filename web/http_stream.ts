// The bytes of a file on a web server, from any offset on, over as few requests as the order of reading allows.
import { EngineError } from './errors.ts';

/** Worth another try: the connection broke, or the server is busy. */
class PassingError extends Error {}

const maxTries = 5;
const firstDelayMs = 250;
/** A gap that is sooner read over than asked around. */
const nearBytes = 1 << 16;

export class HttpStream {
  /** The file's length, and what tells one version of it from another; known after open(). */
  nBytes = 0;
  version = '';
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private position = 0;
  private ranged = false;
  private rest = new Uint8Array(0);
  private abort = new AbortController();

  constructor(
    private readonly url: string,
    private readonly expectedBytes: number | undefined,
    private readonly onBytes: (nBytes: number) => void,
  ) {}

  /** Asks the server for the file's length and version. */
  async open(): Promise<void> {
    await this.retrying(() => this.request(0));
  }

  /** Fills `target` with the bytes from `offset` on. A broken connection goes on where it broke. */
  async read(offset: number, target: Uint8Array): Promise<void> {
    let filled = 0;
    while (filled < target.length) {
      await this.retrying(async () => {
        await this.seek(offset + filled);
        filled += await this.pull(target.subarray(filled));
      });
    }
  }

  close(): void {
    this.abort.abort();
    this.reader = undefined;
    this.rest = new Uint8Array(0);
  }

  private async retrying(work: () => Promise<void>): Promise<void> {
    for (let delayMs = firstDelayMs, nTries = 1; ; delayMs *= 2, ++nTries) {
      try {
        return await work();
      } catch (error) {
        this.close();
        if (!(error instanceof PassingError)) throw error;
        if (nTries === maxTries) throw new EngineError('network', error.message);
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    }
  }

  private async seek(offset: number): Promise<void> {
    const ahead = offset - this.position;
    if (!this.reader || ahead < 0 || (this.ranged && ahead > nearBytes)) await this.request(offset);
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
      throw new PassingError(`The download of ${this.url} ended after ${this.position} bytes, expected ${this.nBytes}.`);
    }
    this.onBytes(value.length);
    return value as Uint8Array<ArrayBuffer>;
  }

  private async request(offset: number): Promise<void> {
    this.close();
    this.abort = new AbortController();
    const response = await fetch(this.url, {
      headers: { Range: `bytes=${offset}-` },
      cache: 'no-store',
      signal: this.abort.signal,
    }).catch((error: unknown) => {
      const hint = new URL(this.url).origin === location.origin ? '' : ' Another origin must allow this page by CORS.';
      throw new PassingError(`${this.url} cannot be reached (${String(error)}).${hint}`);
    });
    this.refuseStatus(response, offset);
    this.ranged = response.status === 206;
    this.position = this.ranged ? offset : 0;
    this.reader = response.body!.getReader();
    if (this.position === 0) {
      // Before the length is judged: "is an HTML page" says more than "has 312 bytes".
      this.rest = await this.chunk();
      refuseOtherThanModel(this.rest, this.url);
    }
    this.checkLength(response, offset);
  }

  private refuseStatus(response: Response, offset: number): void {
    const { status } = response;
    if (status === 429 || status >= 500) throw new PassingError(`The server answers ${status} for ${this.url}.`);
    if (status === 404) throw new EngineError('not_found', `The server has no file ${this.url} (status 404).`);
    if (status === 416) {
      throw new EngineError('corrupt_file', `The server says that ${this.url} has no byte ${offset} (status 416).`);
    }
    if (status !== 200 && status !== 206) {
      throw new EngineError('network', `The server answers ${status} for ${this.url}, expected 200 or 206.`);
    }
    if (response.headers.get('Content-Type')?.startsWith('text/html')) throw htmlError(this.url);
  }

  /** Notes the length and version, and refuses a server that sends another range, length or version than asked for. */
  private checkLength(response: Response, offset: number): void {
    const { headers } = response;
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('Content-Range') ?? '');
    if (response.status === 206 && range && Number(range[1]) !== offset) {
      throw new EngineError('network', `The server sends ${this.url} from byte ${range[1]} on, asked for ${offset}.`);
    }
    // Content-Length counts compressed bytes where there is an encoding, and the rest of the file after a range.
    const plain = headers.has('Content-Encoding') ? 0 : Number(headers.get('Content-Length') ?? 0);
    const total = range ? Number(range[2]) : plain > 0 ? plain + (response.status === 206 ? offset : 0) : 0;
    const expected = this.nBytes || this.expectedBytes;
    if (total > 0 && expected && total !== expected) {
      throw new EngineError('corrupt_file', `${this.url} has ${total} bytes, expected ${expected}.`);
    }
    if (total === 0 && !expected) {
      throw new EngineError('network', `The server does not say how long ${this.url} is.`);
    }
    this.nBytes = total || expected!;
    const version = headers.get('ETag') ?? headers.get('Last-Modified') ?? '';
    if (this.version && version !== this.version) {
      throw new EngineError('network', `${this.url} changed on the server during the download; load it again.`);
    }
    this.version = version;
  }
}

function htmlError(url: string): EngineError {
  return new EngineError('corrupt_file', `${url} is an HTML page, expected a model file; is the address right?`);
}

/** Servers answer 200 with a page for a missing file, and repositories hold pointers instead of large files. */
function refuseOtherThanModel(start: Uint8Array, url: string): void {
  const head = new TextDecoder().decode(start.subarray(0, 40));
  if (/^\s*</.test(head)) throw htmlError(url);
  if (head.startsWith('version https://git-lfs')) {
    throw new EngineError('corrupt_file', `${url} is a Git LFS pointer, expected the model file that it points to.`);
  }
}
