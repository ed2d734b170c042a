// What rope_kv does, after an RMS norm of query and key heads or not (a fresh part), into a cache of any type (a kv and a
// kv write part), for adapters that are CPUs: one thread handles one head of q, k or v of one row, no barrier.
// Consts: those of rope_kv_pairs, WORKGROUP. Bindings: those of rope_kv_pairs, 5 keys, 6 values, 7 in the part.
@group(0) @binding(5) var<storage, read_write> keys: array<KvQuad>;
@group(0) @binding(6) var<storage, read_write> values: array<KvQuad>;

var<private> head_elements: array<f32, HEAD_DIM>;

fn fresh_quad(head: u32, i: u32) -> vec4<f32> {
  let e = 4u * i;
  return vec4<f32>(head_elements[e], head_elements[e + 1u], head_elements[e + 2u], head_elements[e + 3u]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x;
  let row = id.y;
  if (head >= ALL_HEADS || row >= step_state.n_rows) {
    return;
  }
  var squares = 0.0;
  if (NORMED) {
    for (var p = 0u; p < PAIRS; p++) {
      let pair = load_pair(row, head, p);
      squares += dot(pair, pair);
    }
  }
  for (var p = 0u; p < PAIRS; p++) {
    let pair = load_pair(row, head, p);
    let at = pair_elements(p);
    let normed = select(normed_pair(pair, norm_factor(squares), head >= N_HEADS, at), pair, is_value_head(head));
    let turned = rotate(row, head, p, normed);
    if (head < N_HEADS) {
      store_query_pair(row, head, p, turned);
    } else {
      head_elements[at.x] = f32(Elem(turned.x));
      head_elements[at.y] = f32(Elem(turned.y));
    }
  }
  if (head < N_HEADS) {
    return;
  }
  let first = kv_place(row, head);
  for (var i = 0u; i < HEAD_DIM / 4u; i++) {
    if (is_value_head(head)) {
      write_value(first, i, head);
    } else {
      write_key(first, i, head);
    }
  }
}
