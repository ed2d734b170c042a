// The largest logit, and a cut: no token below it survives top-k, top-p and min-p. One workgroup.
// - top-k: the k-th largest of the slices' maxima is at most the k-th largest logit.
// - top-p keeps no weight below (1 - top_p) / n: tokens that small weigh less than 1 - top_p together, and the largest
//   weight alone is 1.
// - min-p keeps no weight below min_p.
// Cut weights are half of that, so that rounding does not matter. After top-k, top-p needs the weight of all that
// top-k kept, so top-k alone cuts then.
// Consts: N_VALID, N_SLICES, WORKGROUP. Bindings: 0 maxima (of argmax), 1 step, 2 bounds.
@group(0) @binding(0) var<storage, read> maxima: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> step_state: Step;
@group(0) @binding(2) var<storage, read_write> bounds: array<f32, 2>;

const LOWEST = -3.4028234663852886e38;

// Unsigned numbers in the order of the floats.
fn to_key(bits: u32) -> u32 {
  return bits ^ select(0x80000000u, 0xFFFFFFFFu, (bits & 0x80000000u) != 0u);
}

fn from_key(key: u32) -> f32 {
  return bitcast<f32>(key ^ select(0xFFFFFFFFu, 0x80000000u, (key & 0x80000000u) != 0u));
}

fn count_from(key: u32, thread: u32) -> f32 {
  var n = 0.0;
  for (var s = thread; s < N_SLICES; s += WORKGROUP) {
    n += select(0.0, 1.0, to_key(maxima[s].x) >= key);
  }
  return n;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
  var own_max = LOWEST;
  for (var s = thread; s < N_SLICES; s += WORKGROUP) {
    own_max = max(own_max, bitcast<f32>(maxima[s].x));
  }
  let largest = reduce_max(own_max, thread);

  let top_k = step_state.top_k;
  var cut = LOWEST;
  if (top_k > 0u && top_k <= N_SLICES) {
    var key = 0u;  // the largest with at least top_k maxima from it on, bit by bit
    for (var bit = 0u; bit < 32u; bit++) {
      let trial = key | (0x80000000u >> bit);
      if (reduce_sum(count_from(trial, thread), thread) >= f32(top_k)) {
        key = trial;
      }
    }
    cut = from_key(key);
  }
  let lowest_weight = 0.5 * max(step_state.min_p, (1.0 - step_state.top_p) / f32(N_VALID));
  if (lowest_weight > 0.0 && (top_k == 0u || step_state.top_p >= 1.0)) {
    cut = max(cut, largest + step_state.temperature * log(lowest_weight) - 2.4e-7 * abs(largest));
  }
  if (step_state.temperature == 0.0) {
    cut = largest;
  }
  if (thread == 0u) {
    bounds[0] = largest;
    bounds[1] = cut;
  }
}
