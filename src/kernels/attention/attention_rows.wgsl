// Causal attention over the paged cache for several rows on a GPU: a workgroup answers QUERIES rows of one head, so that
// keys and values are read once for all of them. Keys are taken in blocks of BLOCK: threads score a key for half of the
// queries, then sum a quad of the output over every GROUPS-th key for all queries.
// The softmax is online (Milakov and Gimelshein 2018): running maximum and sum, earlier output rescaled. A kv part reads
// the cache.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE. Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> keys: array<KvQuad>;
@group(0) @binding(3) var<storage, read> values: array<KvQuad>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<Elem>>;

const WORKGROUP = 128u;
const QUERIES = 8u;
const BLOCK = 64u;
const QUADS = HEAD_DIM / 4u;
const GROUPS = WORKGROUP / QUADS;
const HALVES = WORKGROUP / BLOCK;
const PARTS = 8u;  // threads that look after the weights of a query
const LOWEST = -3.0e38;
const_assert HEAD_DIM % 4u == 0u;
const_assert WORKGROUP >= QUADS;
const_assert WORKGROUP >= QUERIES * PARTS;

var<workgroup> query: array<vec4<f32>, QUERIES * QUADS>;
var<workgroup> first_quads: array<u32, BLOCK>;  // of each key
var<workgroup> weights: array<f32, QUERIES * BLOCK>;
var<workgroup> part_maxima: array<f32, QUERIES * PARTS>;
var<workgroup> part_sums: array<f32, QUERIES * PARTS>;
var<workgroup> sums: array<vec4<f32>, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let kv_head = head / (N_HEADS / N_KV_HEADS);
  let first_row = workgroup.y * QUERIES;
  let n_rows = min(QUERIES, step_state.n_rows - first_row);
  let n_keys = step_state.position + first_row + n_rows;  // of the last row
  for (var i = thread; i < QUERIES * QUADS; i += WORKGROUP) {
    let row = first_row + min(i / QUADS, n_rows - 1u);
    query[i] = vec4<f32>(q[(row * N_HEADS + head) * QUADS + i % QUADS]) * SCALE;
  }
  let quad = thread % QUADS;
  let group = thread / QUADS;
  var output = array<vec4<f32>, QUERIES>();
  var running_max = array<f32, QUERIES>();
  var running_sum = array<f32, QUERIES>();
  for (var r = 0u; r < QUERIES; r++) {
    running_max[r] = LOWEST;
  }
  for (var block = 0u; block < n_keys; block += BLOCK) {
    if (thread < BLOCK) {
      let position = min(block + thread, n_keys - 1u);
      first_quads[thread] = cache_index(pages[position / PAGE_SLOTS], kv_head, position);
    }
    workgroupBarrier();  // the places of the keys are known, the block before is used up

    let key = thread % BLOCK;
    let first_query = thread / BLOCK * (QUERIES / HALVES);
    let at = first_quads[key];
    var scores = array<f32, QUERIES / HALVES>();
    for (var i = 0u; i < QUADS; i++) {
      let k = kv_value(keys[at + kv_quad_at(i)], keys[at + kv_scale_at(i)]);
      for (var r = 0u; r < QUERIES / HALVES; r++) {
        scores[r] += dot(query[(first_query + r) * QUADS + i], k);
      }
    }
    for (var r = 0u; r < QUERIES / HALVES; r++) {
      let is_seen = block + key <= step_state.position + first_row + first_query + r;
      weights[(first_query + r) * BLOCK + key] = select(LOWEST, scores[r], is_seen && block + key < n_keys);
    }
    workgroupBarrier();  // the scores are complete

    let mine = thread * (BLOCK / PARTS);  // first of a share of a query's weights
    if (thread < QUERIES * PARTS) {
      var highest = LOWEST;
      for (var i = 0u; i < BLOCK / PARTS; i++) {
        highest = max(highest, weights[mine + i]);
      }
      part_maxima[thread] = highest;
    }
    workgroupBarrier();  // the maximum of every share is known

    var new_max = array<f32, QUERIES>();
    for (var r = 0u; r < QUERIES; r++) {
      new_max[r] = running_max[r];
      for (var i = 0u; i < PARTS; i++) {
        new_max[r] = max(new_max[r], part_maxima[r * PARTS + i]);
      }
    }
    if (thread < QUERIES * PARTS) {
      var my_max = new_max[0];
      for (var r = 1u; r < QUERIES; r++) {
        my_max = select(my_max, new_max[r], thread / PARTS == r);
      }
      var sum = 0.0;
      for (var i = 0u; i < BLOCK / PARTS; i++) {
        let weight = select(0.0, exp(weights[mine + i] - my_max), weights[mine + i] > LOWEST);
        weights[mine + i] = weight;
        sum += weight;
      }
      part_sums[thread] = sum;
    }
    workgroupBarrier();  // the weights are complete

    for (var r = 0u; r < QUERIES; r++) {
      let rescale = exp(running_max[r] - new_max[r]);
      running_max[r] = new_max[r];
      running_sum[r] *= rescale;
      for (var i = 0u; i < PARTS; i++) {
        running_sum[r] += part_sums[r * PARTS + i];
      }
      output[r] *= rescale;
    }
    if (group < GROUPS) {
      // Every place, so that all loads are under way at once: weights beyond the last key are 0.
      for (var n = 0u; n < (BLOCK + GROUPS - 1u) / GROUPS; n++) {
        let i = n * GROUPS + group;
        let place = first_quads[min(i, BLOCK - 1u)];
        let v = kv_value(values[place + kv_quad_at(quad)], values[place + kv_scale_at(quad)]);
        for (var r = 0u; r < QUERIES; r++) {
          output[r] += select(0.0, weights[r * BLOCK + min(i, BLOCK - 1u)], i < BLOCK) * v;
        }
      }
    }
    workgroupBarrier();  // all have used the weights
  }
  for (var r = 0u; r < QUERIES; r++) {
    sums[thread] = output[r];
    workgroupBarrier();  // every group's sums are written
    if (thread < QUADS && r < n_rows) {
      var total = vec4<f32>();
      for (var g = 0u; g < GROUPS; g++) {
        total += sums[g * QUADS + thread];
      }
      out[((first_row + r) * N_HEADS + head) * QUADS + thread] = vec4<Elem>(total / running_sum[r]);
    }
    workgroupBarrier();  // and summed
  }
}
