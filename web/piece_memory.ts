// Pieces that are here and not yet used up, of all files of a model: fetched before they were asked for, or holding bytes
// that come later in the order of reading. The oldest give way.

const mostBytes = 64 << 20;

interface Held {
  bytes: Uint8Array;
  /** Bytes that nobody has taken. */
  nLeft: number;
}

export class PieceMemory {
  private readonly held = new Map<string, Held>();
  private nBytes = 0;

  put(url: string, index: number, bytes: Uint8Array): void {
    this.drop(keyOf(url, index));
    this.held.set(keyOf(url, index), { bytes, nLeft: bytes.length });
    this.nBytes += bytes.length;
    for (const key of this.held.keys()) {
      if (this.nBytes <= mostBytes || this.held.size === 1) return;
      this.drop(key);
    }
  }

  get(url: string, index: number): Uint8Array | undefined {
    return this.held.get(keyOf(url, index))?.bytes;
  }

  /** Each byte of a model is read about once: a piece whose bytes were all taken is not kept. */
  take(url: string, index: number, nBytes: number): void {
    const held = this.held.get(keyOf(url, index));
    if (held && (held.nLeft -= nBytes) <= 0) this.drop(keyOf(url, index));
  }

  clear(): void {
    this.held.clear();
    this.nBytes = 0;
  }

  private drop(key: string): void {
    this.nBytes -= this.held.get(key)?.bytes.length ?? 0;
    this.held.delete(key);
  }
}

const keyOf = (url: string, index: number) => `${index} ${url}`;
