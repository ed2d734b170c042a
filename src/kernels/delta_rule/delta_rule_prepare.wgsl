// What the rows of a chunk mean to each other, before the state is known (UT transform, Yang et al. 2024, section 3.3).
// With k and q of length 1, ratio(t, s) the decay of rows s + 1 to t, and strength beta_t:
//   INVERSE = (1 + E)^-1 where E[t, s] = beta_t ratio(t, s) k_t k_s for s < t, else 0
//   SCORES[t, s] = ratio(t, s) q_t k_s for s <= t, else 0, q scaled
//   FACTORS[t] = beta_t ratio(t, -1) |k_t|^-1, beta_t, ratio(t, -1) |q_t|^-1 scaled, ratio(last, t) |k_t|^-1
// Ratios are exp of a sum over just their rows, so no decay, however strong, is divided by. Entries of INVERSE are at
// most 1: they are products of contractions. Rows beyond the pass count as zero, with no decay.
// One workgroup handles one chunk of one value head; thread (t, lane) makes every LANES-th element of row t.
// Consts: those of delta_rule_gates, delta_rule_heads and delta_rule_chunk_layout, LANES, SLICE (keys staged at a
// time), WORKGROUP.
// Bindings: those of delta_rule_gates, 1 qkv, 5 chunks.
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(5) var<storage, read_write> chunks: array<f32>;

const SPREAD = CHUNK / LANES;  // elements of a row that a thread makes
const PITCH = SLICE + 1u;      // odd, so that threads which read a column hit different banks
const_assert WORKGROUP == CHUNK * LANES;
const_assert SPREAD * LANES == CHUNK;

var<workgroup> k_slice: array<f32, CHUNK * PITCH>;
var<workgroup> q_slice: array<f32, CHUNK * PITCH>;
var<workgroup> k_scales: array<f32, CHUNK>;
var<workgroup> log_decays: array<f32, CHUNK>;
var<workgroup> errors: array<f32, CHUNK * CHUNK>;   // E
var<workgroup> inverse: array<f32, CHUNK * CHUNK>;

// Stages SLICE keys of k and q of all rows.
fn load_slice(first_row: u32, head: u32, first_key: u32, thread: u32) {
  for (var item = thread; item < CHUNK * SLICE; item += WORKGROUP) {
    let row = first_row + item / SLICE;
    let key = first_key + item % SLICE;
    let at = item / SLICE * PITCH + item % SLICE;
    if (row < step_state.n_rows && key < KEY_DIM) {
      k_slice[at] = f32(qkv[first_k(row, head) + key]);
      q_slice[at] = f32(qkv[first_q(row, head) + key]);
    } else {
      k_slice[at] = 0.0;
      q_slice[at] = 0.0;
    }
  }
}

// The decay of rows `first` to `last - 1` of the chunk.
fn decay_of(first: u32, last: u32) -> f32 {
  var sum = 0.0;
  for (var r = first; r < last; r++) {
    sum += log_decays[r];
  }
  return exp(sum);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let first_row = workgroup.y * CHUNK;
  let block = 4u * first_of_block(workgroup.y, head);
  let t = thread / LANES;
  let lane = thread % LANES;
  var k_products = array<f32, SPREAD>();
  var q_products = array<f32, SPREAD>();
  var k_square = 0.0;
  var q_square = 0.0;
  for (var first = 0u; first < KEY_DIM; first += SLICE) {
    load_slice(first_row, head, first, thread);
    workgroupBarrier();  // the slice is written
    for (var i = 0u; i < SLICE; i++) {
      let k = k_slice[t * PITCH + i];
      let q = q_slice[t * PITCH + i];
      k_square += k * k;
      q_square += q * q;
      for (var n = 0u; n < SPREAD; n++) {
        let k_s = k_slice[(lane + n * LANES) * PITCH + i];
        k_products[n] += k * k_s;
        q_products[n] += q * k_s;
      }
    }
    workgroupBarrier();  // all have read the slice
  }

  var strength = 0.0;
  var log_of_row = 0.0;
  if (first_row + t < step_state.n_rows) {
    strength = write_strength(first_row + t, head);
    log_of_row = log_decay(first_row + t, head);
  }
  let k_scale = inverseSqrt(k_square + NORM_EPS);
  let q_scale = inverseSqrt(q_square + NORM_EPS) * QUERY_SCALE;
  if (lane == 0u) {
    k_scales[t] = k_scale;
    log_decays[t] = log_of_row;
  }
  workgroupBarrier();  // scales and decays of all rows are written

  for (var n = 0u; n < SPREAD; n++) {
    let s = lane + n * LANES;
    var error = 0.0;
    var score = 0.0;
    if (s <= t) {
      let scale = decay_of(s + 1u, t + 1u) * k_scales[s];
      score = q_scale * q_products[n] * scale;
      error = select(0.0, strength * k_scale * k_products[n] * scale, s < t);
    }
    errors[t * CHUNK + s] = error;
    chunks[block + 4u * SCORES + t * CHUNK + s] = score;
  }
  if (lane == 0u) {
    let until = decay_of(0u, t + 1u);
    let factors = block + 4u * (FACTORS + t);
    chunks[factors] = strength * until * k_scale;
    chunks[factors + 1u] = strength;
    chunks[factors + 2u] = until * q_scale;
    chunks[factors + 3u] = decay_of(t + 1u, CHUNK) * k_scale;
  }
  if (thread < 4u) {
    chunks[block + 4u * DECAY + thread] = decay_of(0u, CHUNK);
  }
  workgroupBarrier();  // E is written

  // A thread makes a column, top to bottom, and reads no other.
  if (thread < CHUNK) {
    for (var row = 0u; row < CHUNK; row++) {
      var value = select(0.0, 1.0, row == thread);
      for (var r = thread; r < row; r++) {
        value -= errors[row * CHUNK + r] * inverse[r * CHUNK + thread];
      }
      inverse[row * CHUNK + thread] = value;
      chunks[block + row * CHUNK + thread] = value;
    }
  }
}
