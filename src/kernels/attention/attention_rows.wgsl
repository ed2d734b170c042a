// Causal attention over the paged cache for several rows on a GPU: a workgroup answers QUERIES rows of one head. Keys are
// taken in blocks of BLOCK, first their keys, then their values in workgroup memory. For the scores a thread has a few rows
// and a few keys, for the output a quad of a few rows. The softmax is online (Milakov and Gimelshein 2018): running maximum
// and sum, earlier output rescaled. A kv part reads the cache.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, QUERIES, BLOCK; ROW_THREADS (that share the rows of the scores), OUT_GROUPS
// (that share those of the output), PARTS (threads that look after a row's weights).
// Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 out.
@group(0) @binding(0) var<storage, read> step_state : Step;
@group(0) @binding(1) var<storage, read> q : array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> keys : array<KvQuad>;
@group(0) @binding(3) var<storage, read> values : array<KvQuad>;
@group(0) @binding(4) var<storage, read> pages : array<u32>;
@group(0) @binding(5) var<storage, read_write> out : array<vec4<Elem>>;

const QUADS = HEAD_DIM / 4u;
const WORKGROUP = QUADS * OUT_GROUPS;
const KEYS_EACH = 2u;  // for the scores: keys k and k + KEY_THREADS
const KEY_THREADS = BLOCK / KEYS_EACH;
const ROWS_EACH = QUERIES / ROW_THREADS;
const OUT_ROWS = QUERIES / OUT_GROUPS;
const STRIDE = QUADS + 1u;  // of rows in workgroup memory, mostly odd for its banks
const LOWEST = -3.0e38;
const_assert KEY_THREADS* ROW_THREADS <= WORKGROUP;
const_assert BLOCK % KEYS_EACH == 0u;
const_assert ROWS_EACH* ROW_THREADS == QUERIES;
const_assert OUT_ROWS* OUT_GROUPS == QUERIES;
const_assert QUERIES* PARTS <= WORKGROUP;
const_assert KEY_THREADS % PARTS == 0u;

var<workgroup> queries : array<vec4<Elem>, QUERIES * STRIDE>;
var<workgroup> tile : array<vec4<Elem>, BLOCK * STRIDE>;           // keys, then values
var<workgroup> places : array<u32, BLOCK>;                         // of each key: its first KvQuad
var<workgroup> weights : array<vec2<f32>, QUERIES * KEY_THREADS>;  // [row][k]: of keys k and k + KEY_THREADS
var<workgroup> parts
    : array<f32, QUERIES * PARTS>;  // maxima of a row's shares of a block; at the end their sums
var<workgroup> rescales : array<f32, QUERIES>;

@compute @workgroup_size(WORKGROUP) fn
    main(@builtin(workgroup_id) workgroup : vec3<u32>, @builtin(local_invocation_index) thread : u32) {
  let head = workgroup.x;
  let kv_head = head / (N_HEADS / N_KV_HEADS);
  let first_row = workgroup.y * QUERIES;
  let n_rows = min(QUERIES, step_state.n_rows - first_row);
  let first_position = step_state.position + first_row;
  let n_keys = first_position + n_rows;  // of the last row
  let quad = thread % QUADS;
  let group = thread / QUADS;
  for (var n = 0u; n < OUT_ROWS; n++) {
    let r = n * OUT_GROUPS + group;
    let row = first_row + min(r, n_rows - 1u);
    queries[r * STRIDE + quad] = vec4<Elem>(q[(row * N_HEADS + head) * QUADS + quad]);
  }
  let own_key = thread % KEY_THREADS;  // and every KEY_THREADS-th after it
  let own_row = thread / KEY_THREADS;  // and every ROW_THREADS-th
  let part_row = thread / PARTS;       // whose weights the thread looks after, with PARTS - 1 others
  let part_first = thread % PARTS * (KEY_THREADS / PARTS) + part_row * KEY_THREADS;
  var running_max = LOWEST;
  var running_sum = 0.0;
  var output = array<vec4<f32>, OUT_ROWS>();
  for (var block = 0u; block < n_keys; block += BLOCK) {
    for (var key = thread; key < BLOCK; key += WORKGROUP) {
      let position = min(block + key, n_keys - 1u);
      places[key] = cache_index(pages[position / PAGE_SLOTS], kv_head, position);
    }
    workgroupBarrier();  // the places are known, the block before is used up
    for (var key = group; key < BLOCK; key += OUT_GROUPS) {
      let at = places[key];
      tile[key * STRIDE + quad] =
          vec4<Elem>(kv_value(keys[at + kv_quad_at(quad)], keys[at + kv_scale_at(quad)]));
    }
    workgroupBarrier();  // the keys are there

    if (thread < KEY_THREADS * ROW_THREADS) {
      var scores = array<array<f32, KEYS_EACH>, ROWS_EACH>();
      for (var i = 0u; i < QUADS; i++) {
        var k = array<vec4<f32>, KEYS_EACH>();
        for (var j = 0u; j < KEYS_EACH; j++) {
          k[j] = vec4<f32>(tile[(own_key + j * KEY_THREADS) * STRIDE + i]);
        }
        for (var r = 0u; r < ROWS_EACH; r++) {
          let query = vec4<f32>(queries[(own_row + r * ROW_THREADS) * STRIDE + i]);
          for (var j = 0u; j < KEYS_EACH; j++) {
            scores[r][j] += dot(query, k[j]);
          }
        }
      }
      for (var r = 0u; r < ROWS_EACH; r++) {
        let row = own_row + r * ROW_THREADS;
        // Of the keys that the row sees.
        let n_seen = min(first_position + row + 1u, n_keys);
        let key = block + own_key;
        weights[row * KEY_THREADS + own_key] =
            vec2<f32>(select(LOWEST, SCALE * scores[r][0], key < n_seen),
                      select(LOWEST, SCALE * scores[r][1], key + KEY_THREADS < n_seen));
      }
    }
    workgroupBarrier();  // the scores are complete, the keys used up

    for (var key = group; key < BLOCK; key += OUT_GROUPS) {
      let at = places[key];
      tile[key * STRIDE + quad] =
          vec4<Elem>(kv_value(values[at + kv_quad_at(quad)], values[at + kv_scale_at(quad)]));
    }
    if (part_row < QUERIES) {
      var highest = vec2<f32>(LOWEST);
      for (var i = 0u; i < KEY_THREADS / PARTS; i++) {
        highest = max(highest, weights[part_first + i]);
      }
      parts[thread] = max(highest.x, highest.y);
    }
    workgroupBarrier();  // the maximum of every share is known
    if (part_row < QUERIES) {
      var new_max = running_max;
      for (var i = 0u; i < PARTS; i++) {
        new_max = max(new_max, parts[part_row * PARTS + i]);
      }
      var sums = vec2<f32>();
      for (var i = 0u; i < KEY_THREADS / PARTS; i++) {
        let scored = weights[part_first + i];
        let weight = select(exp(scored - new_max), vec2<f32>(), scored == vec2<f32>(LOWEST));
        weights[part_first + i] = weight;
        sums += weight;
      }
      let rescale = exp(running_max - new_max);
      running_sum = running_sum * rescale + (sums.x + sums.y);
      running_max = new_max;
      rescales[part_row] = rescale;
    }
    workgroupBarrier();  // the weights are complete, the values there

    for (var n = 0u; n < OUT_ROWS; n++) {
      output[n] *= rescales[n * OUT_GROUPS + group];
    }
    for (var k = 0u; k < KEY_THREADS; k++) {
      let first = vec4<f32>(tile[k * STRIDE + quad]);
      let second = vec4<f32>(tile[(k + KEY_THREADS) * STRIDE + quad]);
      for (var n = 0u; n < OUT_ROWS; n++) {
        let weight = weights[(n * OUT_GROUPS + group) * KEY_THREADS + k];
        output[n] += weight.x * first + weight.y * second;
      }
    }
  }
  if (part_row < QUERIES) {
    parts[thread] = running_sum;
  }
  workgroupBarrier();  // the sums of every share are known
  for (var n = 0u; n < OUT_ROWS; n++) {
    let r = n * OUT_GROUPS + group;
    var sum = 0.0;
    for (var i = 0u; i < PARTS; i++) {
      sum += parts[r * PARTS + i];
    }
    if (r < n_rows) {
      out[((first_row + r) * N_HEADS + head) * QUADS + quad] = vec4<Elem>(output[n] / sum);
    }
  }
}
