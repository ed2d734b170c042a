// Causal attention over the paged cache for adapters that are CPUs. One workgroup = HEADS query heads that share a
// kv head, of ROWS rows: QUERIES in all, so that each key and value read serves all of them.
// A block of 4 * WORKGROUP positions at a time: each thread scores four of them, then sums one quad of the output.
// Loops stay short: llvmpipe ends an invocation after 65,535 iterations; here it makes 1.5 a position.
// The softmax is online (Milakov and Gimelshein 2018): running maximum and sum, earlier output rescaled. A kv part reads
// the cache.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, HEADS, ROWS, WORKGROUP. Bindings: 0 step, 1 q, 2 keys, 3 values,
// 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> keys: array<KvQuad>;
@group(0) @binding(3) var<storage, read> values: array<KvQuad>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<Elem>>;

const QUADS = HEAD_DIM / 4u;
const QUERIES = HEADS * ROWS;
const LOWEST = -3.0e38;
const_assert HEAD_DIM % 4u == 0u;
const_assert PAGE_SLOTS % 4u == 0u;
const_assert WORKGROUP >= QUADS;
const_assert N_HEADS / N_KV_HEADS % HEADS == 0u;

var<workgroup> thread_max: array<f32, QUERIES * WORKGROUP>;
var<workgroup> weights: array<vec4<f32>, QUERIES * WORKGROUP>;  // of a thread's four positions

// First quads of four positions, which lie in one page; those beyond the last key repeat it.
fn four_positions(kv_head: u32, first: u32, last_key: u32) -> vec4<u32> {
  let page = pages[min(first, last_key) / PAGE_SLOTS];
  return vec4<u32>(cache_index(page, kv_head, min(first, last_key)), cache_index(page, kv_head, min(first + 1u, last_key)),
                   cache_index(page, kv_head, min(first + 2u, last_key)),
                   cache_index(page, kv_head, min(first + 3u, last_key)));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_head = workgroup.x * HEADS;
  let kv_head = first_head / (N_HEADS / N_KV_HEADS);
  let first_row = workgroup.y * ROWS;
  let last_row = min(first_row + ROWS, step_state.n_rows) - 1u;
  let last_key = step_state.position + last_row;
  var running_max: array<f32, QUERIES>;
  var running_sum: array<f32, QUERIES>;
  var output: array<vec4<f32>, QUERIES>;
  for (var j = 0u; j < QUERIES; j++) {
    running_max[j] = LOWEST;
  }

  for (var block = 0u; block <= last_key; block += 4u * WORKGROUP) {
    let position = block + 4u * thread;
    let at = four_positions(kv_head, position, last_key);
    // Initialised by hand: naga zeroes a variable declared in a loop only once.
    var scores = array<vec4<f32>, QUERIES>();
    for (var i = 0u; i < QUADS; i++) {
      let q_at = kv_quad_at(i);
      let s_at = kv_scale_at(i);
      let k0 = kv_value(keys[at.x + q_at], keys[at.x + s_at]);
      let k1 = kv_value(keys[at.y + q_at], keys[at.y + s_at]);
      let k2 = kv_value(keys[at.z + q_at], keys[at.z + s_at]);
      let k3 = kv_value(keys[at.w + q_at], keys[at.w + s_at]);
      for (var j = 0u; j < QUERIES; j++) {
        let row = min(first_row + j / HEADS, last_row);
        let query = vec4<f32>(q[(row * N_HEADS + first_head + j % HEADS) * QUADS + i]);
        scores[j] += vec4<f32>(dot(query, k0), dot(query, k1), dot(query, k2), dot(query, k3));
      }
    }
    for (var j = 0u; j < QUERIES; j++) {
      let n_keys = step_state.position + first_row + j / HEADS + 1u;
      let visible = vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n_keys);
      scores[j] = select(vec4<f32>(LOWEST), scores[j] * SCALE, visible);
      let s = scores[j];
      thread_max[j * WORKGROUP + thread] = max(max(s.x, s.y), max(s.z, s.w));
    }
    workgroupBarrier();  // every thread's maxima are written
    for (var j = 0u; j < QUERIES; j++) {
      var new_max = running_max[j];
      for (var t = 0u; t < WORKGROUP; t++) {
        new_max = max(new_max, thread_max[j * WORKGROUP + t]);
      }
      let rescale = exp(running_max[j] - new_max);
      running_sum[j] *= rescale;
      output[j] *= rescale;
      running_max[j] = new_max;
      weights[j * WORKGROUP + thread] = select(exp(scores[j] - new_max), vec4<f32>(), scores[j] == vec4<f32>(LOWEST));
    }
    workgroupBarrier();  // the block's weights are written

    for (var t = 0u; t < WORKGROUP && block + 4u * t <= last_key; t++) {
      let places = four_positions(kv_head, block + 4u * t, last_key);
      let v = places + kv_quad_at(min(thread, QUADS - 1u));
      let s = places + kv_scale_at(min(thread, QUADS - 1u));
      let v0 = kv_value(values[v.x], values[s.x]);
      let v1 = kv_value(values[v.y], values[s.y]);
      let v2 = kv_value(values[v.z], values[s.z]);
      let v3 = kv_value(values[v.w], values[s.w]);
      for (var j = 0u; j < QUERIES; j++) {
        let w = weights[j * WORKGROUP + t];
        running_sum[j] += w.x + w.y + w.z + w.w;
        output[j] += w.x * v0 + w.y * v1 + w.z * v2 + w.w * v3;
      }
    }
    workgroupBarrier();  // all have read the weights before the next block writes them
  }

  for (var j = 0u; j < QUERIES; j++) {
    let row = first_row + j / HEADS;
    if (row <= last_row && thread < QUADS) {
      out[(row * N_HEADS + first_head + j % HEADS) * QUADS + thread] = vec4<Elem>(output[j] / running_sum[j]);
    }
  }
}
