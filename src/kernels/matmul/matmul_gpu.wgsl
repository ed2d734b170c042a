// out = x * W^T: one workgroup makes one output column (two for a pair of matrices) of TILE rows.
// Threads stride over the quads of a weight row, so that neighbours read neighbouring words.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, TILE, WORKGROUP.
// Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let column = workgroup.z * n_workgroups.x + workgroup.x;
  if (column >= N_OUT) {
    return;
  }
  let first_row = workgroup.y * TILE;
  var sums: array<f32, N_MATS * TILE>;
  for (var unit = thread; unit < 4u * N_GROUPS; unit += WORKGROUP) {
    for (var m = 0u; m < N_MATS; m++) {
      let g = (column + m * PAIR_OFFSET) * N_GROUPS + unit / 4u;
      let q = group_quads(g, unit % 4u);
      let scale = group_scale(g);
      let lo = scale.x * q.lo + scale.y;
      let hi = scale.x * q.hi + scale.y;
      for (var t = 0u; t < TILE; t++) {
        let quad = 8u * ((first_row + t) * N_GROUPS + unit / 4u) + unit % 4u;
        sums[m * TILE + t] += dot(lo, vec4<f32>(x[quad])) + dot(hi, vec4<f32>(x[quad + 4u]));
      }
    }
  }
  for (var t = 0u; t < TILE; t++) {
    let a = reduce_sum(sums[t], thread);
    var b = 0.0;
    if (N_MATS == 2u) {
      b = reduce_sum(sums[(N_MATS - 1u) * TILE + t], thread);
    }
    if (thread == 0u && first_row + t < n_active_rows()) {
      finish(first_row + t, column, a, b);
    }
  }
}
