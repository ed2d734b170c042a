// The candidates of each slice of logits: weight and token of those from the cut on. One thread a slice.
// When top-p works on all tokens, the weight of the whole slice is added up too.
// Consts: N_VALID, SLICE, N_SLICES, WORKGROUP.
// Bindings: 0 logits, 1 bounds, 2 step, 3 weights, 4 indices, 5 counts, 6 masses.
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> bounds: array<f32, 2>;
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> indices: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> masses: array<f32>;

// exp((logit - largest) / temperature); the largest weighs exactly 1, whatever the temperature.
fn weight_of(logit: f32) -> f32 {
  if (logit == bounds[0]) {
    return 1.0;
  }
  let x = (logit - bounds[0]) / step_state.temperature;
  if (x < -80.0) {
    return 0.0;
  }
  return min(exp(x), 1.0);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let slice = id.x;
  if (slice >= N_SLICES) {
    return;
  }
  let first = slice * SLICE;
  let add_all = step_state.top_k == 0u && step_state.top_p < 1.0;
  var mass = 0.0;
  var n = 0u;
  var n_not_finite = 0u;
  for (var i = first; i < min(first + SLICE, N_VALID); i++) {
    let logit = logits[i];
    // Compared as bits, because shader compilers may assume that no float is NaN or infinite.
    if ((bitcast<u32>(logit) & 0x7F800000u) == 0x7F800000u) {
      n_not_finite++;
      continue;
    }
    if (add_all) {
      mass += weight_of(logit);
    }
    if (logit >= bounds[1]) {
      weights[first + n] = weight_of(logit);
      indices[first + n] = i;
      n++;
    }
  }
  counts[slice] = vec2<u32>(n, n_not_finite);
  masses[slice] = mass;
  for (; n % 4u != 0u; n++) {
    weights[first + n] = 0.0;
  }
}
