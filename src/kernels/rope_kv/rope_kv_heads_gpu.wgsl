// What rope_kv does, after an RMS norm of query and key heads or not (a fresh part), into a cache of any type (a kv and a
// kv write part): one workgroup handles one head of q, k or v of one row.
// Consts: those of rope_kv_pairs, WORKGROUP (at least HEAD_DIM / 2).
// Bindings: those of rope_kv_pairs, 5 keys, 6 values, 7 in the part.
@group(0) @binding(5) var<storage, read_write> keys: array<KvQuad>;
@group(0) @binding(6) var<storage, read_write> values: array<KvQuad>;

const_assert WORKGROUP >= PAIRS;

var<workgroup> head_elements: array<f32, HEAD_DIM>;

fn fresh_quad(head: u32, i: u32) -> vec4<f32> {
  let e = 4u * i;
  return vec4<f32>(head_elements[e], head_elements[e + 1u], head_elements[e + 2u], head_elements[e + 3u]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let row = workgroup.y;
  var pair = vec2<f32>();
  if (thread < PAIRS) {
    pair = load_pair(row, head, thread);
  }
  let at = pair_elements(min(thread, PAIRS - 1u));
  if (NORMED) {
    let squares = reduce_sum(dot(pair, pair), thread);
    pair = select(normed_pair(pair, norm_factor(squares), head >= N_HEADS, at), pair, is_value_head(head));
  }
  pair = rotate(row, head, thread, pair);
  if (head < N_HEADS) {
    if (thread < PAIRS) {
      store_query_pair(row, head, thread, pair);
    }
    return;
  }
  if (thread < PAIRS) {
    head_elements[at.x] = f32(Elem(pair.x));
    head_elements[at.y] = f32(Elem(pair.y));
  }
  workgroupBarrier();  // the head is complete
  if (thread >= HEAD_DIM / 4u) {
    return;
  }
  let first = kv_place(row, head);
  if (is_value_head(head)) {
    write_value(first, thread, head);
  } else {
    write_key(first, thread, head);
  }
}
