// The line under an answer: how fast it came, and how it ended.
import type { FinishReason, Timings } from '../api.ts';

export function speed(nTokens: number, decodeMs: number, firstTokenMs: number): string {
  const parts = [`first token after ${(firstTokenMs / 1000).toFixed(2)} s`];
  // The first token belongs to the prompt's time, so a rate needs a second one.
  if (nTokens > 1 && decodeMs > 0) parts.unshift(`${((1000 * (nTokens - 1)) / decodeMs).toFixed(1)} tokens/s`);
  return parts.join(' · ');
}

export function finalStats(finish: FinishReason, timings: Timings): string {
  const ends = { stop: '', interrupted: ' · stopped', length: ' · cut at the longest answer allowed' };
  const { n_output_tokens, decode_ms, prefill_ms } = timings;
  return `${speed(n_output_tokens, decode_ms, prefill_ms)} · ${n_output_tokens} tokens${ends[finish]}`;
}
