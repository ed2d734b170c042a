// RMS norm of each query and key head, then what rope_kv does, for adapters that are CPUs: one thread handles one
// head of q, k or v of one row, no barrier.
// Consts: those of rope_kv_pairs, EPS, WORKGROUP.
// Bindings: those of rope_kv_pairs, 7 norm weights [2, HEAD_DIM] of q and k.
@group(0) @binding(7) var<storage, read> qk_norm: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x;
  let row = id.y;
  if (head >= ALL_HEADS || row >= step_state.n_rows) {
    return;
  }
  let is_value = head >= N_HEADS + N_KV_HEADS;
  var sum = 0.0;
  for (var p = 0u; p < PAIRS; p++) {
    let pair = load_pair(row, head, p);
    sum += dot(pair, pair);
  }
  let scale = inverseSqrt(sum / f32(HEAD_DIM) + EPS);
  let first = select(0u, HEAD_DIM, head >= N_HEADS);
  for (var p = 0u; p < PAIRS; p++) {
    let pair = load_pair(row, head, p);
    let at = first + pair_elements(p);
    let normed = pair * scale * vec2<f32>(qk_norm[at.x], qk_norm[at.y]);
    store_pair(row, head, p, select(normed, pair, is_value));
  }
}
