// One share of attention for one row: HEADS query heads that share a kv head, over SPLIT keys.
// Threads score the keys (PARTS threads a key, each with every PARTS-th quad), then sum the values (a quad of the output
// and every GROUPS-th key each).
// Consts: N_HEADS, N_KV_HEADS, HEAD_DIM, SCALE, HEADS, SPLIT, N_SPLITS, WORKGROUP.
// Bindings: 0 step, 1 q, 2 keys, 3 values, 4 pages, 5 partials [head][split][HEAD_DIM + 4].
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> q: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<Elem>>;
@group(0) @binding(3) var<storage, read> values: array<vec4<Elem>>;
@group(0) @binding(4) var<storage, read> pages: array<u32>;
@group(0) @binding(5) var<storage, read_write> partials: array<vec4<f32>>;

const QUADS = HEAD_DIM / 4u;
const PARTS = WORKGROUP / SPLIT;
const GROUPS = WORKGROUP / QUADS;
const RUN = 8u;
const RUNS = SPLIT / RUN;
const LOWEST = -3.0e38;
const_assert HEAD_DIM % 4u == 0u;
const_assert WORKGROUP % SPLIT == 0u;
const_assert WORKGROUP >= QUADS;
const_assert WORKGROUP >= HEADS * RUNS;
const_assert SPLIT % RUN == 0u;

var<workgroup> query: array<vec4<f32>, HEADS * QUADS>;
var<workgroup> part_scores: array<f32, HEADS * WORKGROUP>;
var<workgroup> weights: array<f32, HEADS * SPLIT>;
var<workgroup> runs: array<f32, HEADS * RUNS>;    // maxima, then sums, of runs of RUN keys
var<workgroup> first_quads: array<u32, SPLIT>;  // of each key
var<workgroup> sums: array<vec4<f32>, HEADS * GROUPS * QUADS>;

fn highest_score(head: u32) -> f32 {
  var highest = LOWEST;
  for (var r = 0u; r < RUNS; r++) {
    highest = max(highest, runs[head * RUNS + r]);
  }
  return highest;
}

fn first_quad(kv_head: u32, position: u32) -> u32 {
  return cache_index(pages[position / PAGE_SLOTS], kv_head, position) / 4u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_head = workgroup.x * HEADS;
  let kv_head = first_head / (N_HEADS / N_KV_HEADS);
  let n_keys = step_state.position + 1u;
  let first_key = workgroup.y * SPLIT;
  if (first_key >= n_keys) {
    return;
  }
  let n_mine = min(SPLIT, n_keys - first_key);
  for (var i = thread; i < HEADS * QUADS; i += WORKGROUP) {
    query[i] = vec4<f32>(q[first_head * QUADS + i]) * SCALE;
  }
  if (thread < SPLIT) {
    first_quads[thread] = first_quad(kv_head, first_key + min(thread, n_mine - 1u));
  }
  workgroupBarrier();  // the queries and the places of the keys are complete

  let key = thread / PARTS;
  let part = thread % PARTS;
  let at = first_quads[key];
  var scores = array<f32, HEADS>();
  for (var i = part; i < QUADS; i += PARTS) {
    let k = vec4<f32>(keys[at + i]);
    for (var h = 0u; h < HEADS; h++) {
      scores[h] += dot(query[h * QUADS + i], k);
    }
  }
  for (var h = 0u; h < HEADS; h++) {
    part_scores[h * WORKGROUP + thread] = scores[h];
  }
  workgroupBarrier();  // every part of every score is written

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

  let quad = thread % QUADS;
  let group = thread / QUADS;
  if (group < GROUPS) {
    var output = array<vec4<f32>, HEADS>();
    // Every place, so that all loads are under way at once: those beyond the last key have weight 0 and its values.
    for (var n = 0u; n < (SPLIT + GROUPS - 1u) / GROUPS; n++) {
      let i = min(n * GROUPS + group, SPLIT - 1u);
      let v = vec4<f32>(values[first_quads[i] + quad]);
      for (var h = 0u; h < HEADS; h++) {
        output[h] += select(0.0, weights[h * SPLIT + i], n * GROUPS + group < SPLIT) * v;
      }
    }
    for (var h = 0u; h < HEADS; h++) {
      sums[(h * GROUPS + group) * QUADS + quad] = output[h];
    }
  }
  workgroupBarrier();  // every group's sums are written
  for (var i = thread; i < HEADS * QUADS; i += WORKGROUP) {
    let h = i / QUADS;
    var total = vec4<f32>();
    for (var g = 0u; g < GROUPS; g++) {
      total += sums[(h * GROUPS + g) * QUADS + i % QUADS];
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
