// The delta rule row by row. One workgroup handles COLUMNS columns of a head's state: thread (part, column) keeps KEYS
// of its elements in registers. q and k are used as they are; their lengths are divided out of the sums.
// Consts: those of delta_rule_gates and delta_rule_heads, COLUMNS, PARTS, KEYS (PARTS * KEYS is at least KEY_DIM),
// WORKGROUP.
// Bindings: those of delta_rule_gates, 1 qkv, 5 state, 6 out.
@group(0) @binding(1) var<storage, read> qkv: array<Elem>;
@group(0) @binding(5) var<storage, read_write> state: array<f32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

const_assert PARTS * COLUMNS == WORKGROUP;
const_assert PARTS * KEYS >= KEY_DIM;

// Two of each, for even and odd rows: a row writes while threads still read those of the row before.
var<workgroup> products: array<vec2<f32>, 2u * WORKGROUP>;  // k S and q S over a part's keys
var<workgroup> lengths: array<vec3<f32>, 2u * PARTS>;        // k k, q q and q k

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.y;
  let part = thread / COLUMNS;
  let column = workgroup.x * COLUMNS + thread % COLUMNS;
  let is_column = column < VALUE_DIM;
  let first_key = part * KEYS;
  let first_state = (head * KEY_DIM + first_key) * VALUE_DIM + column;
  var s: array<f32, KEYS>;
  for (var i = 0u; i < KEYS; i++) {
    s[i] = 0.0;
    if (is_column && first_key + i < KEY_DIM && step_state.position > 0u) {
      s[i] = state[first_state + i * VALUE_DIM];
    }
  }

  for (var row = 0u; row < step_state.n_rows; row++) {
    let half = row % 2u;
    var k: array<f32, KEYS>;
    var product = vec2<f32>();
    var squares = vec3<f32>();
    for (var i = 0u; i < KEYS; i++) {
      k[i] = 0.0;
      var q = 0.0;
      if (first_key + i < KEY_DIM) {
        k[i] = f32(qkv[first_k(row, head) + first_key + i]);
        q = f32(qkv[first_q(row, head) + first_key + i]);
      }
      product += vec2<f32>(k[i], q) * s[i];
      squares += vec3<f32>(k[i] * k[i], q * q, q * k[i]);
    }
    products[half * WORKGROUP + thread] = product;
    if (thread % COLUMNS == 0u) {
      lengths[half * PARTS + part] = squares;
    }
    workgroupBarrier();  // every part's sums are written
    product = vec2<f32>();
    squares = vec3<f32>();
    for (var p = 0u; p < PARTS; p++) {
      product += products[half * WORKGROUP + p * COLUMNS + thread % COLUMNS];
      squares += lengths[half * PARTS + p];
    }
    let k_scale = inverseSqrt(squares.x + NORM_EPS);
    let q_scale = inverseSqrt(squares.y + NORM_EPS) * QUERY_SCALE;
    let decay = exp(log_decay(row, head));
    let v = f32(qkv[first_v(row, head) + min(column, VALUE_DIM - 1u)]);
    let correction = write_strength(row, head) * (v - k_scale * decay * product.x);
    for (var i = 0u; i < KEYS; i++) {
      s[i] = decay * s[i] + k[i] * k_scale * correction;
    }
    if (part == 0u && is_column) {
      out[(row * VALUE_HEADS + head) * VALUE_DIM + column] =
        q_scale * (decay * product.y + squares.z * k_scale * correction);
    }
  }

  for (var i = 0u; i < KEYS; i++) {
    if (is_column && first_key + i < KEY_DIM) {
      state[first_state + i * VALUE_DIM] = s[i];
    }
  }
}
