// Values of golden files, and how far others are from them.
import { readFileSync } from 'node:fs';

/** A file of little-endian f32. */
export function readFloats(file) {
  const { buffer, byteOffset, byteLength } = readFileSync(file);
  return [...new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))];
}

export const relativeL2 = (got, want) => Math.hypot(...want.map((x, i) => x - got[i])) / Math.hypot(...want);
