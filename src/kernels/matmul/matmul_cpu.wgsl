// out = x * W^T for adapters that are CPUs: one thread owns one weight row and TILE rows of x, no barrier.
// x is read at uniform indices (one scalar load for all lanes); only the weights differ between lanes.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, TILE, WORKGROUP.
// Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) workgroup: vec3<u32>,
        @builtin(num_workgroups) n_workgroups: vec3<u32>) {
  let column = workgroup.z * n_workgroups.x * WORKGROUP + id.x;
  if (column >= N_OUT) {
    return;
  }
  let first_row = workgroup.y * TILE;
  var sums: array<f32, N_MATS * TILE>;
  for (var group = 0u; group < N_GROUPS; group++) {
    for (var m = 0u; m < N_MATS; m++) {
      let g = (column + m * PAIR_OFFSET) * N_GROUPS + group;
      let scale = group_scale(g);
      for (var j = 0u; j < 4u; j++) {
        let q = group_quads(g, j);
        let lo = scale.x * q.lo + scale.y;
        let hi = scale.x * q.hi + scale.y;
        for (var t = 0u; t < TILE; t++) {
          let quad = 8u * ((first_row + t) * N_GROUPS + group) + j;
          sums[m * TILE + t] += dot(lo, vec4<f32>(x[quad])) + dot(hi, vec4<f32>(x[quad + 4u]));
        }
      }
    }
  }
  for (var t = 0u; t < TILE; t++) {
    if (first_row + t < n_active_rows()) {
      finish(first_row + t, column, sums[t], sums[(N_MATS - 1u) * TILE + t]);
    }
  }
}
