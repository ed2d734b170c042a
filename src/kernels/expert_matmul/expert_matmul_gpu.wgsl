// out = x * W^T for pairs that share an expert: one workgroup makes COLUMNS columns of TILE pairs, four outputs, at a
// time. Threads stride over the quads of a weight row, so that neighbours read neighbouring words.
// Consts: N_GROUPS (of a weight row), N_OUT (columns of out), N_MATS, PAIRS_PER_X (that share a row of x), COLUMNS,
// TILE, WORKGROUP. Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part), 5 and 6 (a
// pairs part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

const_assert COLUMNS * TILE == 4u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let pairs = pairs_of(workgroup);
  let first_column = workgroup.x * COLUMNS;
  for (var tile = pairs.first; tile < pairs.last; tile += TILE) {
    var x_quads: array<u32, TILE>;  // first ones of the pairs; those beyond the last pair repeat it
    for (var t = 0u; t < TILE; t++) {
      x_quads[t] = pair_at(min(tile + t, pairs.last - 1u)) / PAIRS_PER_X * (8u * N_GROUPS);
    }
    // Initialised by hand: naga zeroes a variable declared in a loop only once.
    var sums = array<f32, 4u * N_MATS>();
    for (var unit = thread; unit < 4u * N_GROUPS; unit += WORKGROUP) {
      var x_lo: array<vec4<f32>, TILE>;
      var x_hi: array<vec4<f32>, TILE>;
      for (var t = 0u; t < TILE; t++) {
        let quad = x_quads[t] + 8u * (unit / 4u) + unit % 4u;
        x_lo[t] = vec4<f32>(x[quad]);
        x_hi[t] = vec4<f32>(x[quad + 4u]);
      }
      for (var i = 0u; i < N_MATS * COLUMNS; i++) {
        let column = min(first_column + i % COLUMNS, N_OUT - 1u);
        let g = ((pairs.expert * N_MATS + i / COLUMNS) * N_OUT + column) * N_GROUPS + unit / 4u;
        let q = group_quads(g, unit % 4u);
        let scale = group_scale(g);
        let lo = scale.x * q.lo + scale.y;
        let hi = scale.x * q.hi + scale.y;
        for (var t = 0u; t < TILE; t++) {
          sums[i * TILE + t] += dot(lo, x_lo[t]) + dot(hi, x_hi[t]);
        }
      }
    }
    let a = reduce_sum4(vec4<f32>(sums[0], sums[1], sums[2], sums[3]), thread);
    var b = vec4<f32>();
    if (N_MATS == 2u) {
      const second = 4u * (N_MATS - 1u);
      b = reduce_sum4(vec4<f32>(sums[second], sums[second + 1u], sums[second + 2u], sums[second + 3u]), thread);
    }
    let t = thread % TILE;
    let column = first_column + thread / TILE;
    if (thread < 4u && tile + t < pairs.last && column < N_OUT) {
      finish(pair_at(tile + t), column, a[thread], b[thread]);
    }
  }
}
