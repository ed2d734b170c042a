// Rotates queries and keys, and writes keys and values into the paged cache, in the activation type.
// One thread handles the pair (j, j + HALF) of one head of q, k or v.
// Consts: those of rope_kv_pairs, WORKGROUP. Bindings: those of rope_kv_pairs, 5 keys, 6 values.
@group(0) @binding(5) var<storage, read_write> keys: array<Elem>;
@group(0) @binding(6) var<storage, read_write> values: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.y;
  let head = id.x / PAIRS;
  if (head >= ALL_HEADS || row >= step_state.n_rows) {
    return;
  }
  let p = id.x % PAIRS;
  let pair = rotate(row, head, p, load_pair(row, head, p));
  if (head < N_HEADS) {
    store_query_pair(row, head, p, pair);
    return;
  }
  let at = 4u * kv_place(row, head) + pair_elements(p);
  if (is_value_head(head)) {
    values[at.x] = Elem(pair.x);
    values[at.y] = Elem(pair.y);
  } else {
    keys[at.x] = Elem(pair.x);
    keys[at.y] = Elem(pair.y);
  }
}
