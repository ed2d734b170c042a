// What every answer of a file server must pass, and which failures are worth another try.
import { EngineError } from './errors.ts';

/** Worth another try: the connection broke, or the server is busy. */
export class PassingError extends Error {}

const maxTries = 5;
const firstDelayMs = 250;

/** Repeats work that fails in passing; `onFailure` runs after every failure. */
export async function retrying<T>(work: () => Promise<T>, onFailure: () => void): Promise<T> {
  for (let delayMs = firstDelayMs, nTries = 1; ; delayMs *= 2, ++nTries) {
    try {
      return await work();
    } catch (error) {
      onFailure();
      if (!(error instanceof PassingError)) throw error;
      if (nTries === maxTries) throw new EngineError('network', error.message);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

/** A response with an acceptable status. `firstByte` is the first one asked for. */
export async function ask(url: string, init: RequestInit, firstByte: number): Promise<Response> {
  const response = await fetch(url, { cache: 'no-store', ...init }).catch((error: unknown) => {
    const hint = new URL(url).origin === location.origin ? '' : ' Another origin must allow this page by CORS.';
    throw new PassingError(`${url} cannot be reached (${String(error)}).${hint}`);
  });
  const { status } = response;
  if (status === 429 || status >= 500) throw new PassingError(`The server answers ${status} for ${url}.`);
  if (status === 404) throw new EngineError('not_found', `The server has no file ${url} (status 404).`);
  if (status === 416) {
    throw new EngineError('corrupt_file', `The server says that ${url} has no byte ${firstByte} (status 416).`);
  }
  if (status !== 200 && status !== 206) {
    throw new EngineError('network', `The server answers ${status} for ${url}, expected 200 or 206.`);
  }
  if (response.headers.get('Content-Type')?.startsWith('text/html')) throw htmlError(url);
  return response;
}

/** Servers answer 200 with a page for a missing file, and repositories hold pointers instead of large files. */
export function refuseOtherThanModel(start: Uint8Array, url: string): void {
  const head = new TextDecoder().decode(start.subarray(0, 40));
  if (/^\s*<(!doctype|html|head|body|\?xml)/i.test(head)) throw htmlError(url);
  if (head.startsWith('version https://git-lfs')) {
    throw new EngineError('corrupt_file', `${url} is a Git LFS pointer, expected the model file that it points to.`);
  }
}

/** Content-Length, where it counts the bytes that arrive: with an encoding it counts compressed ones. */
export function plainLength(response: Response): number {
  const { headers } = response;
  return headers.has('Content-Encoding') ? 0 : Number(headers.get('Content-Length') ?? 0);
}

export function versionOf(response: Response): string {
  return response.headers.get('ETag') ?? response.headers.get('Last-Modified') ?? '';
}

function htmlError(url: string): EngineError {
  return new EngineError('corrupt_file', `${url} is an HTML page, expected a model file; is the address right?`);
}
