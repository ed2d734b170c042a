// A small file in one answer, whose length the server need not say: many send texts compressed.
import { EngineError } from './errors.ts';
import { ask, PassingError, plainLength, refuseOtherThanModel, retrying, versionOf } from './http_checks.ts';

export async function fetchWhole(
  url: string,
  maxBytes: number,
  onBytes: (nBytes: number) => void,
): Promise<{ bytes: Uint8Array; version: string }> {
  let abort = new AbortController();
  return retrying(
    async () => {
      abort = new AbortController();
      const response = await ask(url, { signal: abort.signal }, 0);
      if (response.status === 206) throw new EngineError('network', `The server sends a part of ${url}, asked for all.`);
      const bytes = await collect(response, url, maxBytes, onBytes);
      refuseOtherThanModel(bytes, url);
      const expected = plainLength(response);
      if (expected > 0 && bytes.length !== expected) {
        throw new PassingError(`The download of ${url} ended after ${bytes.length} bytes, expected ${expected}.`);
      }
      return { bytes, version: versionOf(response) };
    },
    () => abort.abort(),
  );
}

async function collect(
  response: Response,
  url: string,
  maxBytes: number,
  onBytes: (nBytes: number) => void,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let nBytes = 0;
  const reader = response.body!.getReader();
  for (;;) {
    const { value, done } = await reader.read().catch((error: unknown) => {
      throw new PassingError(`The download of ${url} broke off after ${nBytes} bytes (${String(error)}).`);
    });
    if (done) break;
    nBytes += value.length;
    if (nBytes > maxBytes) {
      throw new EngineError('corrupt_file', `${url} has more than ${maxBytes} bytes, which is the most for this file.`);
    }
    parts.push(value);
    onBytes(value.length);
  }
  const bytes = new Uint8Array(nBytes);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
