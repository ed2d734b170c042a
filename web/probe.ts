// Looks inside the module's model: hidden states and logits of a sequence (src/web/probe_exports.cpp).
import type { WasmModule } from './module.ts';

/** Rows of the residual stream after `layer` (0: the embedding), in order, or at the end the last token's logits. */
export interface Probed {
  layer?: number;
  values: Float32Array;
}

interface ProbeStep {
  done: boolean;
  at?: number;
  n_bytes?: number;
  layer?: number;
}

/** Runs `ids` from an empty cache. Whoever begins reads to the end: nothing else begins before. */
export async function* probe(module: WasmModule, ids: number[], hidden: boolean): AsyncGenerator<Probed> {
  module.call('ztvm_probe_begin', JSON.stringify({ ids, hidden }));
  for (;;) {
    const { done, at, n_bytes, layer } = module.call<ProbeStep>('ztvm_probe_step');
    if (at !== undefined) {
      const values = new Float32Array(module.bytes(at, n_bytes!).slice().buffer);
      yield layer === undefined ? { values } : { layer, values };
    }
    if (done) return;
    await module.gpu.settled();
  }
}
