// out = x * W^T for many rows and few columns: one workgroup makes COLUMNS columns (of each of N_MATS matrices) of TILE rows.
// Threads stride over the quads of a weight row, so that neighbours read neighbouring words; a thread's quads of x serve
// all columns.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, COLUMNS, TILE, WORKGROUP.
// Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

const_assert TILE == 4u;  // reduce_sum4 adds up a column's rows

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_column = workgroup.x * COLUMNS;
  let first_row = workgroup.y * TILE;
  // By weight row: first matrix's columns, then the second's. Each has the sums of TILE rows.
  var sums = array<vec4<f32>, N_MATS * COLUMNS>();
  for (var unit = thread; unit < 4u * N_GROUPS; unit += WORKGROUP) {
    var x_lo = array<vec4<f32>, TILE>();
    var x_hi = array<vec4<f32>, TILE>();
    for (var t = 0u; t < TILE; t++) {
      let quad = 8u * ((first_row + t) * N_GROUPS + unit / 4u) + unit % 4u;
      x_lo[t] = vec4<f32>(x[quad]);
      x_hi[t] = vec4<f32>(x[quad + 4u]);
    }
    for (var i = 0u; i < N_MATS * COLUMNS; i++) {
      let column = min(first_column + i % COLUMNS, N_OUT - 1u);
      let g = (column + i / COLUMNS * PAIR_OFFSET) * N_GROUPS + unit / 4u;
      let q = group_quads(g, unit % 4u);
      let scale = group_scale(g);
      let lo = scale.x * q.lo + scale.y;
      let hi = scale.x * q.hi + scale.y;
      sums[i] += vec4<f32>(dot(lo, x_lo[0]) + dot(hi, x_hi[0]), dot(lo, x_lo[1]) + dot(hi, x_hi[1]),
                           dot(lo, x_lo[2]) + dot(hi, x_hi[2]), dot(lo, x_lo[3]) + dot(hi, x_hi[3]));
    }
  }
  for (var i = 0u; i < COLUMNS; i++) {
    let a = reduce_sum4(sums[i], thread);
    var b = vec4<f32>();
    if (N_MATS == 2u) {
      b = reduce_sum4(sums[(N_MATS - 1u) * COLUMNS + i], thread);
    }
    if (thread < TILE && first_row + thread < n_active_rows() && first_column + i < N_OUT) {
      finish(first_row + thread, first_column + i, a[thread], b[thread]);
    }
  }
}
