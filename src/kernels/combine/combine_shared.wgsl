// The shared expert's share of a row. exp overflows to infinity for very negative gates, and 1 / infinity is the
// right 0. Consts: QUADS, STRIDE (columns of logits), GATE_COLUMN. Bindings: 4 logits, 5 shared.
@group(0) @binding(4) var<storage, read> logits: array<f32>;
@group(0) @binding(5) var<storage, read> shared_out: array<vec4<f32>>;

fn shared_term(row: u32, quad: u32) -> vec4<f32> {
  let gate = 1.0 / (1.0 + exp(-logits[row * STRIDE + GATE_COLUMN]));
  return gate * shared_out[row * QUADS + quad];
}
