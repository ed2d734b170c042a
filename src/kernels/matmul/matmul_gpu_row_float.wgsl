// out = W x for one row of x: a workgroup owns four weight rows, each thread the same groups of all four, so that x is
// read and prepared once for them. With a pair of matrices the four rows are two of each.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, WORKGROUP.
// Bindings: 0 words, 1 scales (a row part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

fn x_quad(i: u32) -> vec4<f32> {
  return vec4<f32>(x[i]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let first = (workgroup.z * n_workgroups.x + workgroup.x) * (4u / N_MATS);
  // Rows beyond the last are computed as the last and not stored.
  var rows = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(N_OUT - 1u));
  if (N_MATS == 2u) {
    rows = vec4<u32>(rows.xy, rows.xy + PAIR_OFFSET);
  }
  var sums = vec4<f32>();
  for (var g = thread; g < N_GROUPS; g += WORKGROUP) {
    let group_x = prepare_x(8u * g);
    let groups = rows * N_GROUPS + g;
    sums += vec4<f32>(group_product(groups.x, group_x), group_product(groups.y, group_x),
                      group_product(groups.z, group_x), group_product(groups.w, group_x));
  }
  let total = reduce_sum4(sums, thread);
  if (thread != 0u) {
    return;
  }
  if (N_MATS == 2u) {
    finish(0u, rows.x, total.x, total.z);
    if (first + 1u < N_OUT) {
      finish(0u, rows.y, total.y, total.w);
    }
    return;
  }
  finish(0u, rows.x, total.x, 0.0);
  if (first + 1u < N_OUT) {
    finish(0u, rows.y, total.y, 0.0);
  }
  if (first + 2u < N_OUT) {
    finish(0u, rows.z, total.z, 0.0);
  }
  if (first + 3u < N_OUT) {
    finish(0u, rows.w, total.w, 0.0);
  }
}
