// The delta rule chunk by chunk, after delta_rule_prepare: with S the state before the chunk, K, Q and V its rows,
//   corrections = INVERSE (beta V - beta ratio K S);  out = ratio Q S + SCORES corrections
//   S = DECAY S + (ratio to the end K)^T corrections
// One workgroup handles QUADS quads of columns of a head, and keeps their S in workgroup memory. The first half of its
// threads works on K, the second on Q; thread (half, t, quad) owns row t of the chunk.
// Consts: those of delta_rule_heads and delta_rule_chunk_layout, QUADS, WORKGROUP.
// Bindings: 0 step, 1 qkv, 2 chunks, 3 state, 4 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> qkv: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read> chunks: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

const KEY_QUADS = KEY_DIM / 4u;
const VALUE_QUADS = VALUE_DIM / 4u;
const HALF = CHUNK * QUADS;
const_assert WORKGROUP == 2u * HALF;
const_assert KEY_DIM % 4u == 0u;
const_assert VALUE_DIM % 4u == 0u;

var<workgroup> s: array<vec4<f32>, KEY_DIM * QUADS>;
var<workgroup> errors: array<vec4<f32>, HALF>;       // beta V - beta ratio K S
var<workgroup> corrections: array<vec4<f32>, HALF>;

// Sum over i of a[i] times row i of S, for a row of K or Q that begins at `first`.
fn times_state(first: u32, quad: u32) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var i = 0u; i < KEY_QUADS; i++) {
    let a = vec4<f32>(qkv[first + i]);
    let at = 4u * i * QUADS + quad;
    sum += (a.x * s[at] + a.y * s[at + QUADS]) + (a.z * s[at + 2u * QUADS] + a.w * s[at + 3u * QUADS]);
  }
  return sum;
}

// Row `t` of the lower triangular INVERSE times the errors.
fn times_errors(block: u32, t: u32, quad: u32) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var r = 0u; r <= t / 4u; r++) {
    let a = chunks[block + t * (CHUNK / 4u) + r];
    let at = 4u * r * QUADS + quad;
    sum += (a.x * errors[at] + a.y * errors[at + QUADS]) +
           (a.z * errors[at + 2u * QUADS] + a.w * errors[at + 3u * QUADS]);
  }
  return sum;
}

// Row `t` of the lower triangular SCORES times the corrections.
fn times_corrections(block: u32, t: u32, quad: u32) -> vec4<f32> {
  var sum = vec4<f32>();
  for (var r = 0u; r <= t / 4u; r++) {
    let a = chunks[block + SCORES + t * (CHUNK / 4u) + r];
    let at = 4u * r * QUADS + quad;
    sum += (a.x * corrections[at] + a.y * corrections[at + QUADS]) +
           (a.z * corrections[at + 2u * QUADS] + a.w * corrections[at + 3u * QUADS]);
  }
  return sum;
}

// Moves four keys' rows of S on, in one quad of columns.
fn advance_state(block: u32, first_row: u32, head: u32, i: u32, quad: u32) {
  let at = 4u * i * QUADS + quad;
  let decay = chunks[block + DECAY].x;
  var s0 = decay * s[at];
  var s1 = decay * s[at + QUADS];
  var s2 = decay * s[at + 2u * QUADS];
  var s3 = decay * s[at + 3u * QUADS];
  for (var r = 0u; r < min(CHUNK, step_state.n_rows - first_row); r++) {
    let k = chunks[block + FACTORS + r].w * vec4<f32>(qkv[first_k(first_row + r, head) / 4u + i]);
    let correction = corrections[r * QUADS + quad];
    s0 += k.x * correction;
    s1 += k.y * correction;
    s2 += k.z * correction;
    s3 += k.w * correction;
  }
  s[at] = s0;
  s[at + QUADS] = s1;
  s[at + 2u * QUADS] = s2;
  s[at + 3u * QUADS] = s3;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.y;
  let first_quad = workgroup.x * QUADS;
  for (var item = thread; item < KEY_DIM * QUADS; item += WORKGROUP) {
    let column = first_quad + item % QUADS;
    s[item] = vec4<f32>();
    if (column < VALUE_QUADS && step_state.position > 0u) {
      s[item] = state[(head * KEY_DIM + item / QUADS) * VALUE_QUADS + column];
    }
  }
  workgroupBarrier();  // the state is loaded

  let is_query = thread >= HALF;
  let t = thread % HALF / QUADS;
  let quad = thread % QUADS;
  let column = first_quad + quad;
  for (var first_row = 0u; first_row < step_state.n_rows; first_row += CHUNK) {
    let block = first_of_block(first_row / CHUNK, head);
    // Rows beyond the pass repeat the last one: their factors are 0.
    let row = min(first_row + t, step_state.n_rows - 1u);
    let factors = chunks[block + FACTORS + t];
    let product = times_state(select(first_k(row, head), first_q(row, head), is_query) / 4u, quad);
    if (!is_query) {
      let v = vec4<f32>(qkv[first_v(row, head) / 4u + min(column, VALUE_QUADS - 1u)]);
      errors[t * QUADS + quad] = factors.y * v - factors.x * product;
    }
    workgroupBarrier();  // the errors are written
    if (!is_query) {
      corrections[t * QUADS + quad] = times_errors(block, t, quad);
    }
    workgroupBarrier();  // the corrections are written, and S is read
    if (is_query) {
      if (first_row + t < step_state.n_rows && column < VALUE_QUADS) {
        out[(row * VALUE_HEADS + head) * VALUE_QUADS + column] =
          factors.z * product + times_corrections(block, t, quad);
      }
    } else {
      for (var item = thread; item < KEY_QUADS * QUADS; item += HALF) {
        advance_state(block, first_row, head, item / QUADS, item % QUADS);
      }
    }
    workgroupBarrier();  // S has moved on, and the corrections are read
  }

  for (var item = thread; item < KEY_DIM * QUADS; item += WORKGROUP) {
    let store_column = first_quad + item % QUADS;
    if (store_column < VALUE_QUADS) {
      state[(head * KEY_DIM + item / QUADS) * VALUE_QUADS + store_column] = s[item];
    }
  }
}
