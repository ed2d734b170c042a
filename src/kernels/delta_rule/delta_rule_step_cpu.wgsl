// The delta rule row by row for adapters that are CPUs: one thread handles four columns of a head's state, no barrier.
// q and k are used as they are; their lengths are divided out of the sums.
// llvmpipe ends an invocation after 65,535 iterations, so an op handles N_ROWS rows from FIRST_ROW on.
// Consts: those of delta_rule_gates and delta_rule_heads, FIRST_ROW, N_ROWS, WORKGROUP.
// Bindings: those of delta_rule_gates, 1 qkv, 5 state, 6 out.
@group(0) @binding(1) var<storage, read> qkv: array<vec4<Elem>>;
@group(0) @binding(5) var<storage, read_write> state: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> out: array<vec4<f32>>;

const VALUE_QUADS = VALUE_DIM / 4u;
const KEY_QUADS = KEY_DIM / 4u;
const_assert KEY_DIM % 4u == 0u;
const_assert VALUE_DIM % 4u == 0u;

// Four keys' elements of the thread's columns.
fn load_state(first: u32, has_state: bool) -> array<vec4<f32>, 4> {
  if (!has_state) {
    return array<vec4<f32>, 4>();
  }
  return array<vec4<f32>, 4>(state[first], state[first + VALUE_QUADS], state[first + 2u * VALUE_QUADS],
                             state[first + 3u * VALUE_QUADS]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.y;
  let quad = id.x;
  if (quad >= VALUE_QUADS) {
    return;
  }
  let first_state = head * KEY_DIM * VALUE_QUADS + quad;
  for (var row = FIRST_ROW; row < min(FIRST_ROW + N_ROWS, step_state.n_rows); row++) {
    let has_state = row > 0u || step_state.position > 0u;
    let at_q = first_q(row, head) / 4u;
    let at_k = first_k(row, head) / 4u;
    var k_product = vec4<f32>();
    var q_product = vec4<f32>();
    var squares = vec3<f32>();
    for (var i = 0u; i < KEY_QUADS; i++) {
      let k = vec4<f32>(qkv[at_k + i]);
      let q = vec4<f32>(qkv[at_q + i]);
      let s = load_state(first_state + 4u * i * VALUE_QUADS, has_state);
      k_product += (k.x * s[0] + k.y * s[1]) + (k.z * s[2] + k.w * s[3]);
      q_product += (q.x * s[0] + q.y * s[1]) + (q.z * s[2] + q.w * s[3]);
      squares += vec3<f32>(dot(k, k), dot(q, q), dot(q, k));
    }
    let k_scale = inverseSqrt(squares.x + NORM_EPS);
    let q_scale = inverseSqrt(squares.y + NORM_EPS) * QUERY_SCALE;
    let decay = exp(log_decay(row, head));
    let v = vec4<f32>(qkv[first_v(row, head) / 4u + quad]);
    let correction = write_strength(row, head) * (v - k_scale * decay * k_product);
    for (var i = 0u; i < KEY_QUADS; i++) {
      let k = vec4<f32>(qkv[at_k + i]) * k_scale;
      let first = first_state + 4u * i * VALUE_QUADS;
      let s = load_state(first, has_state);
      state[first] = decay * s[0] + k.x * correction;
      state[first + VALUE_QUADS] = decay * s[1] + k.y * correction;
      state[first + 2u * VALUE_QUADS] = decay * s[2] + k.z * correction;
      state[first + 3u * VALUE_QUADS] = decay * s[3] + k.w * correction;
    }
    out[(row * VALUE_HEADS + head) * VALUE_QUADS + quad] =
      q_scale * (decay * q_product + squares.z * k_scale * correction);
  }
}
