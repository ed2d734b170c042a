// Causal attention over the paged cache for adapters that are CPUs: one thread for one query head of one row.
// A workgroup holds the GROUP query heads of one kv head, of ROWS rows: keys and values are read at uniform
// addresses (one scalar load for all lanes), and no thread returns early, which would end that.
// Positions go in fours, because llvmpipe ends an invocation after 65,535 iterations of loops.
// The softmax is online (Milakov and Gimelshein 2018): running maximum and sum, earlier output rescaled.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, GROUP, ROWS, WORKGROUP (GROUP * ROWS).
// Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<Elem>>;
@group(0) @binding(3) var<storage, read> values: array<vec4<Elem>>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<Elem>>;

const_assert HEAD_DIM % 4u == 0u;
const_assert PAGE_SLOTS % 4u == 0u;
const QUADS = HEAD_DIM / 4u;
// Quads that an inner loop takes: few enough to be unrolled, so that its iterations do not count.
const CHUNK = min(16u, QUADS & (~QUADS + 1u));

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let kv_head = workgroup.x;
  let head = kv_head * GROUP + thread % GROUP;
  let n_rows = step_state.n_rows;
  let row = workgroup.y * ROWS + thread / GROUP;
  let last_row = min(workgroup.y * ROWS + ROWS, n_rows) - 1u;
  let n_keys = step_state.position + row + 1u;
  let last_key = step_state.position + last_row;  // of the workgroup's rows

  var query: array<vec4<f32>, QUADS>;
  var output: array<vec4<f32>, QUADS>;
  let first_query = (min(row, last_row) * N_HEADS + head) * QUADS;
  for (var i = 0u; i < QUADS; i++) {
    query[i] = vec4<f32>(q[first_query + i]) * SCALE;
  }
  var running_max = -3.0e38;
  var running_sum = 0.0;
  for (var position = 0u; position <= last_key; position += 4u) {
    // The four lie in one page; those beyond the last key repeat it, with weight 0.
    let page = pages[position / PAGE_SLOTS];
    let at = vec4<u32>(cache_index(page, kv_head, position), cache_index(page, kv_head, min(position + 1u, last_key)),
                       cache_index(page, kv_head, min(position + 2u, last_key)),
                       cache_index(page, kv_head, min(position + 3u, last_key))) / 4u;
    var s = vec4<f32>();
    for (var chunk = 0u; chunk < QUADS; chunk += CHUNK) {
      for (var c = 0u; c < CHUNK; c++) {
        let i = chunk + c;
        s += vec4<f32>(dot(query[i], vec4<f32>(keys[at.x + i])), dot(query[i], vec4<f32>(keys[at.y + i])),
                       dot(query[i], vec4<f32>(keys[at.z + i])), dot(query[i], vec4<f32>(keys[at.w + i])));
      }
    }
    let visible = vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n_keys);
    s = select(vec4<f32>(-3.0e38), s, visible);
    let new_max = max(running_max, max(max(s.x, s.y), max(s.z, s.w)));
    let rescale = exp(running_max - new_max);
    let p = select(vec4<f32>(), exp(s - new_max), visible);
    running_sum = running_sum * rescale + p.x + p.y + p.z + p.w;
    running_max = new_max;
    for (var chunk = 0u; chunk < QUADS; chunk += CHUNK) {
      for (var c = 0u; c < CHUNK; c++) {
        let i = chunk + c;
        output[i] = output[i] * rescale + p.x * vec4<f32>(values[at.x + i]) + p.y * vec4<f32>(values[at.y + i])
                  + p.z * vec4<f32>(values[at.z + i]) + p.w * vec4<f32>(values[at.w + i]);
      }
    }
  }
  if (row < n_rows) {
    for (var i = 0u; i < QUADS; i++) {
      out[(row * N_HEADS + head) * QUADS + i] = vec4<Elem>(output[i] / running_sum);
    }
  }
}
