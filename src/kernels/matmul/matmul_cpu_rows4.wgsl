// out = W x for one row of x, for adapters that are CPUs: one thread owns four weight rows, all in straight-line code.
// llvmpipe loads x once for all lanes only where the address is a constant and no branch or loop is around it, so
// there is no guard (the grid is exact) and the groups are unrolled by doubling. With a pair of matrices the four
// rows are two of each.
// Consts: N_GROUPS (of a weight row), FIRST_GROUP and CHUNK_GROUPS (this op's share, at most 63), N_MATS, PAIR_OFFSET,
// WORKGROUP. Bindings: 0 words, 1 scales (a rows4 part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;

const_assert CHUNK_GROUPS <= 63u;

var<private> first_groups: vec4<u32>;  // of the thread's four rows
var<private> sums: vec4<f32>;

fn add_1(i: u32) {
  let q = 8u * (FIRST_GROUP + i);
  let group_x = prepare_x(array<vec4<f32>, 8>(x[q], x[q + 1u], x[q + 2u], x[q + 3u], x[q + 4u], x[q + 5u], x[q + 6u],
                                              x[q + 7u]));
  let g = first_groups + FIRST_GROUP + i;
  sums += vec4<f32>(group_product(g.x, group_x), group_product(g.y, group_x), group_product(g.z, group_x),
                    group_product(g.w, group_x));
}
fn add_2(i: u32) {
  add_1(i);
  add_1(i + 1u);
}
fn add_4(i: u32) {
  add_2(i);
  add_2(i + 2u);
}
fn add_8(i: u32) {
  add_4(i);
  add_4(i + 4u);
}
fn add_16(i: u32) {
  add_8(i);
  add_8(i + 8u);
}
fn add_32(i: u32) {
  add_16(i);
  add_16(i + 16u);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>) {
  let thread = id.z * n_workgroups.x * WORKGROUP + id.x;
  var rows = 4u * thread + vec4<u32>(0u, 1u, 2u, 3u);
  if (N_MATS == 2u) {
    rows = 2u * thread + vec4<u32>(0u, 1u, PAIR_OFFSET, PAIR_OFFSET + 1u);
  }
  first_groups = rows * N_GROUPS;
  sums = vec4<f32>();
  if ((CHUNK_GROUPS & 32u) != 0u) {
    add_32(0u);
  }
  if ((CHUNK_GROUPS & 16u) != 0u) {
    add_16(CHUNK_GROUPS & 32u);
  }
  if ((CHUNK_GROUPS & 8u) != 0u) {
    add_8(CHUNK_GROUPS & 48u);
  }
  if ((CHUNK_GROUPS & 4u) != 0u) {
    add_4(CHUNK_GROUPS & 56u);
  }
  if ((CHUNK_GROUPS & 2u) != 0u) {
    add_2(CHUNK_GROUPS & 60u);
  }
  if ((CHUNK_GROUPS & 1u) != 0u) {
    add_1(CHUNK_GROUPS & 62u);
  }
  if (N_MATS == 2u) {
    finish(0u, rows.x, sums.x, sums.z);
    finish(0u, rows.y, sums.y, sums.w);
  } else {
    finish(0u, rows.x, sums.x, 0.0);
    finish(0u, rows.y, sums.y, 0.0);
    finish(0u, rows.z, sums.z, 0.0);
    finish(0u, rows.w, sums.w, 0.0);
  }
}
