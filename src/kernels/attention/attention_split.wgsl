// One share of attention for one row, and what comes before it: HEADS query heads that share a kv head are normed and
// rotated (a fresh_by part), and so is the row's key, which the workgroup that owns its position writes to the cache with
// the value (a kv write part). Then the heads' sums over SPLIT keys: threads score the keys (PARTS threads a key, each
// with every PARTS-th quad), then sum the values (a quad of the output and every GROUPS-th key each). The row's own key
// and value take part as they are; a cache of int8 rounds them for the rows that follow.
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, N_ROTATED, SCALE, HEADS, SPLIT, N_SPLITS, WORKGROUP.
// Bindings: 0 step, 1 qkv, 2 rope table, 3 pages, 4 keys, 5 values, 6 partials [head][split][HEAD_DIM + 4], 7 in the norm's part.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(2) var<storage, read> rope: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> pages: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys: array<KvQuad>;
@group(0) @binding(5) var<storage, read_write> values: array<KvQuad>;
@group(0) @binding(6) var<storage, read_write> partials: array<vec4<f32>>;

const QUADS = HEAD_DIM / 4u;
const SHARING = N_HEADS / N_KV_HEADS;
const PARTS = WORKGROUP / SPLIT;
const QUADS_PER_PART = (QUADS + PARTS - 1u) / PARTS;
const GROUPS = WORKGROUP / QUADS;
const FRESH_QUADS = QUADS * (HEADS + 1u);  // of the queries, then of the key
const QUADS_PER_THREAD = (FRESH_QUADS + WORKGROUP - 1u) / WORKGROUP;
const FRESH_KEY = N_KV_HEADS;              // a head of fresh_quad: the others are those of values
const RUN = 8u;
const RUNS = SPLIT / RUN;
const LOWEST = -3.0e38;
const_assert HEAD_DIM % 4u == 0u;
const_assert WORKGROUP % SPLIT == 0u;
const_assert WORKGROUP >= QUADS;
const_assert WORKGROUP >= HEADS * RUNS;
const_assert SPLIT % RUN == 0u;
const_assert SHARING % HEADS == 0u;
const_assert FRESH_QUADS <= HEADS * WORKGROUP;

// Quads of the queries, then of the key; in the end every group's sums [head][group][quad].
var<workgroup> quads: array<vec4<f32>, max(HEADS * GROUPS, HEADS + 1u) * QUADS>;
var<workgroup> part_scores: array<f32, HEADS * WORKGROUP>;  // before, squares of fresh quads
var<workgroup> weights: array<f32, HEADS * SPLIT>;
var<workgroup> runs: array<f32, HEADS * RUNS>;  // maxima, then sums, of runs of RUN keys
var<workgroup> first_quads: array<u32, SPLIT>;  // of each key

fn highest_score(head: u32) -> f32 {
  var highest = LOWEST;
  for (var r = 0u; r < RUNS; r++) {
    highest = max(highest, runs[head * RUNS + r]);
  }
  return highest;
}

// The first KvQuad of a position's key; of one beyond the last page that of some other.
fn key_place(kv_head: u32, position: u32) -> u32 {
  return cache_index(pages[min(position / PAGE_SLOTS, arrayLength(&pages) - 1u)], kv_head, position);
}

// The first element of head h of the queries, or of the key behind them, in qkv.
fn fresh_head(first_head: u32, kv_head: u32, h: u32) -> u32 {
  return select(first_head + h, N_HEADS + kv_head, h == HEADS) * HEAD_DIM;
}

fn fresh_value(kv_head: u32, quad: u32) -> vec4<f32> {
  let at = (N_HEADS + N_KV_HEADS + kv_head) * HEAD_DIM + 4u * quad;
  return vec4<f32>(f32(qkv[at]), f32(qkv[at + 1u]), f32(qkv[at + 2u]), f32(qkv[at + 3u]));
}

// What a kv write part stores: the row's key, which make_fresh left, or the value of a kv head.
fn fresh_quad(head: u32, quad: u32) -> vec4<f32> {
  if (head == FRESH_KEY) {
    return quads[HEADS * QUADS + quad];
  }
  return fresh_value(head, quad);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_head = workgroup.x * HEADS;
  let kv_head = first_head / SHARING;
  let first_key = workgroup.y * SPLIT;
  let quad = thread % QUADS;
  let group = thread / QUADS;
  let key = thread / PARTS;
  // Asked for together with the position, which not all of it may need. Keys beyond the last one weigh nothing.
  let place = key_place(kv_head, first_key + key);
  let asked = ask_for_fresh(first_head, kv_head, thread);
  let value = fresh_value(kv_head, quad);
  let position = step_state.position;
  if (first_key > position) {
    return;
  }
  let n_mine = min(SPLIT, position + 1u - first_key);
  let newest = position - first_key;  // at least SPLIT where another workgroup has the row's key
  var key_quads = array<vec4<f32>, QUADS_PER_PART>();
  for (var n = 0u; n < QUADS_PER_PART; n++) {
    let i = min(n * PARTS + thread % PARTS, QUADS - 1u);
    key_quads[n] = kv_value(keys[place + kv_quad_at(i)], keys[place + kv_scale_at(i)]);
  }
  if (thread % PARTS == 0u) {
    first_quads[key] = place;
  }
  make_fresh(asked, position, thread);
  workgroupBarrier();  // the queries, the row's key and the places of the keys are there

  var scores = array<f32, HEADS>();
  for (var n = 0u; n < QUADS_PER_PART; n++) {
    let i = n * PARTS + thread % PARTS;
    if (i >= QUADS) {
      break;
    }
    var k = key_quads[n];
    if (key >= newest) {
      k = quads[HEADS * QUADS + i];
    }
    for (var h = 0u; h < HEADS; h++) {
      scores[h] += dot(quads[h * QUADS + i], k);
    }
  }
  for (var h = 0u; h < HEADS; h++) {
    part_scores[h * WORKGROUP + thread] = scores[h];
  }
  workgroupBarrier();  // every part of every score is written, and the cache was read

  if (newest < SPLIT && first_head % SHARING == 0u && thread < QUADS) {
    write_key(first_quads[newest], thread, FRESH_KEY);
    write_value(first_quads[newest], thread, kv_head);
  }
  for (var i = thread; i < HEADS * SPLIT; i += WORKGROUP) {
    var score = 0.0;
    for (var p = 0u; p < PARTS; p++) {
      score += part_scores[i * PARTS + p];
    }
    weights[i] = select(LOWEST, score, i % SPLIT < n_mine);
  }
  workgroupBarrier();  // the scores are complete
  if (thread < HEADS * RUNS) {
    var highest = LOWEST;
    for (var i = 0u; i < RUN; i++) {
      highest = max(highest, weights[thread * RUN + i]);
    }
    runs[thread] = highest;
  }
  workgroupBarrier();  // the maxima are known
  for (var i = thread; i < HEADS * SPLIT; i += WORKGROUP) {
    weights[i] = select(0.0, exp(weights[i] - highest_score(i / SPLIT)), i % SPLIT < n_mine);
  }
  let head_max = highest_score(min(thread, HEADS - 1u));
  workgroupBarrier();  // the weights are complete, and all have read the maxima
  if (thread < HEADS * RUNS) {
    var sum = 0.0;
    for (var i = 0u; i < RUN; i++) {
      sum += weights[thread * RUN + i];
    }
    runs[thread] = sum;
  }

  if (group < GROUPS) {
    var output = array<vec4<f32>, HEADS>();
    // As often for every share, so that all loads are under way at once: those beyond the last key weigh nothing.
    for (var n = 0u; n < (SPLIT + GROUPS - 1u) / GROUPS; n++) {
      let i = min(n * GROUPS + group, n_mine - 1u);
      let start = first_quads[i];
      var v = kv_value(values[start + kv_quad_at(quad)], values[start + kv_scale_at(quad)]);
      if (i >= newest) {
        v = value;
      }
      for (var h = 0u; h < HEADS; h++) {
        output[h] += select(0.0, weights[h * SPLIT + i], n * GROUPS + group < n_mine) * v;
      }
    }
    for (var h = 0u; h < HEADS; h++) {
      quads[(h * GROUPS + group) * QUADS + quad] = output[h];
    }
  }
  workgroupBarrier();  // every group's sums are written
  for (var i = thread; i < HEADS * QUADS; i += WORKGROUP) {
    let h = i / QUADS;
    var total = vec4<f32>();
    for (var g = 0u; g < GROUPS; g++) {
      total += quads[(h * GROUPS + g) * QUADS + i % QUADS];
    }
    partials[((first_head + h) * N_SPLITS + workgroup.y) * (QUADS + 1u) + i % QUADS] = total;
  }
  if (thread < HEADS) {
    var sum = 0.0;
    for (var r = 0u; r < RUNS; r++) {
      sum += runs[thread * RUNS + r];
    }
    partials[((first_head + thread) * N_SPLITS + workgroup.y) * (QUADS + 1u) + QUADS] = vec4<f32>(head_max, sum, 0.0, 0.0);
  }
}
