// out = x * W^T for pairs that share an expert, for adapters that are CPUs: one thread owns one column, TILE pairs at
// a time, no barrier.
// Consts: N_GROUPS (of a weight row), N_OUT (columns of out), N_MATS, PAIRS_PER_X (that share a row of x), TILE,
// WORKGROUP. Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part), 5 and 6 (a pairs
// part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) workgroup: vec3<u32>) {
  let column = id.x;
  if (column >= N_OUT) {
    return;
  }
  let pairs = pairs_of(workgroup);
  for (var tile = pairs.first; tile < pairs.last; tile += TILE) {
    var x_quads: array<u32, TILE>;  // first ones of the pairs; those beyond the last pair repeat it
    for (var t = 0u; t < TILE; t++) {
      x_quads[t] = pair_at(min(tile + t, pairs.last - 1u)) / PAIRS_PER_X * (8u * N_GROUPS);
    }
    // Initialised by hand: naga zeroes a variable declared in a loop only once.
    var sums = array<f32, N_MATS * TILE>();
    for (var group = 0u; group < N_GROUPS; group++) {
      for (var m = 0u; m < N_MATS; m++) {
        let g = ((pairs.expert * N_MATS + m) * N_OUT + column) * N_GROUPS + group;
        let scale = group_scale(g);
        for (var j = 0u; j < 4u; j++) {
          let q = group_quads(g, j);
          let lo = scale.x * q.lo + scale.y;
          let hi = scale.x * q.hi + scale.y;
          for (var t = 0u; t < TILE; t++) {
            let quad = x_quads[t] + 8u * group + j;
            sums[m * TILE + t] += dot(lo, vec4<f32>(x[quad])) + dot(hi, vec4<f32>(x[quad + 4u]));
          }
        }
      }
    }
    for (var t = 0u; t < TILE && tile + t < pairs.last; t++) {
      finish(pair_at(tile + t), column, sums[t], sums[(N_MATS - 1u) * TILE + t]);
    }
  }
}
