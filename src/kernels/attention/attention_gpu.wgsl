// Causal attention over the paged cache, one workgroup for one query head of one row.
// Keys are taken in blocks of WORKGROUP: each thread scores one key, then each thread sums one output element.
// The softmax is online (Milakov and Gimelshein 2018): running maximum and sum, earlier output rescaled.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, WORKGROUP (at least HEAD_DIM).
// Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<Elem>;
@group(0) @binding(2) var<storage, read> keys: array<Elem>;
@group(0) @binding(3) var<storage, read> values: array<Elem>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<Elem>;

const_assert WORKGROUP >= HEAD_DIM;
const LOWEST = -3.0e38;

var<workgroup> query: array<f32, HEAD_DIM>;
var<workgroup> weights: array<f32, WORKGROUP>;

fn score(kv_head: u32, position: u32) -> f32 {
  let first = cache_index(pages[position / PAGE_SLOTS], kv_head, position);
  var sum = 0.0;
  for (var i = 0u; i < HEAD_DIM; i++) {
    sum += query[i] * f32(keys[first + i]);
  }
  return sum * SCALE;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let row = workgroup.y;
  let kv_head = head / (N_HEADS / N_KV_HEADS);
  let n_keys = step_state.position + row + 1u;
  let first_out = (row * N_HEADS + head) * HEAD_DIM;
  if (thread < HEAD_DIM) {
    query[thread] = f32(q[first_out + thread]);
  }
  workgroupBarrier();  // the query is complete

  var running_max = LOWEST;
  var running_sum = 0.0;
  var output = 0.0;
  for (var block = 0u; block < n_keys; block += WORKGROUP) {
    let position = block + thread;
    var s = LOWEST;
    if (position < n_keys) {
      s = score(kv_head, position);
    }
    let new_max = max(running_max, reduce_max(s, thread));
    var p = 0.0;
    if (position < n_keys) {
      p = exp(s - new_max);
    }
    weights[thread] = p;
    let rescale = exp(running_max - new_max);
    running_sum = running_sum * rescale + reduce_sum(p, thread);
    output *= rescale;
    running_max = new_max;
    workgroupBarrier();  // the block's weights are complete
    if (thread < HEAD_DIM) {
      for (var k = 0u; k < min(WORKGROUP, n_keys - block); k++) {
        let at = block + k;
        output += weights[k] * f32(values[cache_index(pages[at / PAGE_SLOTS], kv_head, at) + thread]);
      }
    }
    workgroupBarrier();  // all have read the weights before the next block writes them
  }
  if (thread < HEAD_DIM) {
    out[first_out + thread] = Elem(output / running_sum);
  }
}
