// Causal attention over the paged cache for adapters that are CPUs: one thread for one query head of one row.
// The softmax is online (Milakov and Gimelshein 2018): running maximum and sum, earlier output rescaled.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, WORKGROUP. Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<Elem>;
@group(0) @binding(2) var<storage, read> keys: array<Elem>;
@group(0) @binding(3) var<storage, read> values: array<Elem>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x;
  let row = id.y;
  if (head >= N_HEADS || row >= step_state.n_rows) {
    return;
  }
  let kv_head = head / (N_HEADS / N_KV_HEADS);
  let n_keys = step_state.position + row + 1u;
  let first_out = (row * N_HEADS + head) * HEAD_DIM;
  var running_max = -3.0e38;
  var running_sum = 0.0;
  var output: array<f32, HEAD_DIM>;
  for (var position = 0u; position < n_keys; position++) {
    let first = cache_index(pages[position / PAGE_SLOTS], kv_head, position);
    var s = 0.0;
    for (var i = 0u; i < HEAD_DIM; i++) {
      s += f32(q[first_out + i]) * f32(keys[first + i]);
    }
    s *= SCALE;
    let new_max = max(running_max, s);
    let rescale = exp(running_max - new_max);
    let p = exp(s - new_max);
    running_sum = running_sum * rescale + p;
    running_max = new_max;
    for (var i = 0u; i < HEAD_DIM; i++) {
      output[i] = output[i] * rescale + p * f32(values[first + i]);
    }
  }
  for (var i = 0u; i < HEAD_DIM; i++) {
    out[first_out + i] = Elem(output[i] / running_sum);
  }
}
