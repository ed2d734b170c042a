// Rotates queries and keys, and writes keys and values into the paged cache.
// One thread handles the pair (j, j + HALF) of one head of q, k or v.
// Consts: those of rope_kv_pairs, WORKGROUP. Bindings: those of rope_kv_pairs.
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.y;
  let head = id.x / PAIRS;
  if (head >= ALL_HEADS || row >= step_state.n_rows) {
    return;
  }
  let p = id.x % PAIRS;
  store_pair(row, head, p, load_pair(row, head, p));
}
