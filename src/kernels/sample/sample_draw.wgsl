// Filters the candidates by a lowest weight, then draws one. One workgroup; a thread owns consecutive slices, so
// that sums run in the order of the tokens and a draw is the same each time.
// Consts: SLICE, N_SLICES, SLICES_PER_THREAD, WORKGROUP.
// Bindings: 0 weights, 1 indices, 2 counts, 3 masses (of slices), 4 step.
@group(0) @binding(0) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> counts: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> masses: array<f32>;
@group(0) @binding(4) var<storage, read_write> step_state: Step;

var<workgroup> thread_masses: array<f32, WORKGROUP>;

// A number in [0, 1) made from the seed and the number of the token.
fn random() -> f32 {
  var v = vec3<u32>(step_state.seed_low, step_state.seed_high, step_state.n_chosen) * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3<u32>(16u);
  v.x += v.y * v.z;
  return f32(v.x >> 8u) / 16777216.0;
}

// How many of a thread's candidates weigh at least `lowest`, and how much they weigh together. Zeros count for none.
fn own_candidates(thread: u32, lowest: f32) -> vec2<f32> {
  var n = vec4<f32>();
  var mass = vec4<f32>();
  for (var s = thread * SLICES_PER_THREAD; s < min((thread + 1u) * SLICES_PER_THREAD, N_SLICES); s++) {
    let first = s * (SLICE / 4u);
    for (var i = first; i < first + (counts[s].x + 3u) / 4u; i++) {
      let w = weights[i];
      let kept = (w >= vec4<f32>(lowest)) & (w > vec4<f32>());
      n += select(vec4<f32>(), vec4<f32>(1.0), kept);
      mass += select(vec4<f32>(), w, kept);
    }
  }
  return vec2<f32>(dot(n, vec4<f32>(1.0)), mass.x + mass.y + mass.z + mass.w);
}

// The k-th largest weight, or 0 when there are fewer. Weights are at most 1, so their two highest bits are 0.
fn top_k_limit(thread: u32) -> f32 {
  let k = step_state.top_k;
  var limit = 0u;
  for (var bit = 2u; bit < 32u; bit++) {
    let trial = limit | (0x80000000u >> bit);
    var n = 0.0;
    if (k > 0u) {
      n = own_candidates(thread, bitcast<f32>(trial)).x;
    }
    if (reduce_sum(n, thread) >= max(f32(k), 1.0)) {
      limit = trial;
    }
  }
  return bitcast<f32>(limit);
}

// The weight of all tokens that top-k keeps, when top-p needs it.
fn own_total(thread: u32, lowest: f32) -> f32 {
  if (step_state.top_k > 0u) {
    return own_candidates(thread, lowest).y;
  }
  var total = 0.0;
  for (var s = thread; s < N_SLICES; s += WORKGROUP) {
    total += masses[s];
  }
  return total;
}

// The largest limit, not below `lowest`, whose tokens weigh top_p of all that `lowest` keeps.
fn top_p_limit(thread: u32, lowest: f32) -> f32 {
  let p = step_state.top_p;
  let wanted = p * reduce_sum(own_total(thread, lowest), thread);
  var limit = 0u;
  for (var bit = 2u; bit < 32u; bit++) {
    let trial = limit | (0x80000000u >> bit);
    var mass = 0.0;
    if (p < 1.0) {
      mass = own_candidates(thread, max(bitcast<f32>(trial), lowest)).y;
    }
    if (reduce_sum(mass, thread) >= wanted && p < 1.0) {
      limit = trial;
    }
  }
  return max(bitcast<f32>(limit), lowest);
}

// The token where the running sum passes `part` of the total; the last one that starts below it.
fn draw(lowest: f32, part: f32) -> u32 {
  var total = 0.0;
  for (var t = 0u; t < WORKGROUP; t++) {
    total += thread_masses[t];
  }
  let wanted = part * total;
  var owner = 0u;
  var running = 0.0;
  var before = 0.0;
  for (var t = 0u; t < WORKGROUP; t++) {
    if (thread_masses[t] > 0.0 && running <= wanted) {
      owner = t;
      before = running;
    }
    running += thread_masses[t];
  }
  var choice = 0u;
  running = before;
  for (var s = owner * SLICES_PER_THREAD; s < min((owner + 1u) * SLICES_PER_THREAD, N_SLICES); s++) {
    for (var i = 0u; i < counts[s].x; i++) {
      let w = weights[s * (SLICE / 4u) + i / 4u][i % 4u];
      if (w >= lowest && w > 0.0 && running <= wanted) {
        choice = indices[s * SLICE + i];
        running += w;
      }
    }
  }
  return choice;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
  var own_not_finite = 0.0;
  for (var s = thread; s < N_SLICES; s += WORKGROUP) {
    own_not_finite += f32(counts[s].y);
  }
  let n_not_finite = u32(reduce_sum(own_not_finite, thread));
  let lowest = max(top_p_limit(thread, top_k_limit(thread)), step_state.min_p);
  thread_masses[thread] = own_candidates(thread, lowest).y;
  workgroupBarrier();  // every thread's mass is written
  if (thread == 0u) {
    // At temperature 0 the candidates are equal, and the first of them is argmax.
    step_state.choice = draw(lowest, select(random(), 0.0, step_state.temperature == 0.0));
    step_state.n_not_finite += n_not_finite;
  }
}
