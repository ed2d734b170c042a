// RMS norm of each query and key head, then what rope_kv does. One workgroup handles one head of q, k or v of one row.
// Consts: those of rope_kv_pairs, EPS, WORKGROUP (at least HEAD_DIM / 2).
// Bindings: those of rope_kv_pairs, 7 norm weights [2, HEAD_DIM] of q and k.
@group(0) @binding(7) var<storage, read> qk_norm: array<f32>;

const_assert WORKGROUP >= PAIRS;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let row = workgroup.y;
  var pair = vec2<f32>();
  if (thread < PAIRS) {
    pair = load_pair(row, head, thread);
  }
  let scale = inverseSqrt(reduce_sum(dot(pair, pair), thread) / f32(HEAD_DIM) + EPS);
  if (thread >= PAIRS) {
    return;
  }
  if (head < N_HEADS + N_KV_HEADS) {
    let at = select(0u, HEAD_DIM, head >= N_HEADS) + pair_elements(thread);
    pair *= scale * vec2<f32>(qk_norm[at.x], qk_norm[at.y]);
  }
  store_pair(row, head, thread, pair);
}
