// What the matmuls by subgroup matrices share: the matrices, and the weight rows in f16.
// Consts: N_OUT (columns made), N_MATS, PAIR_OFFSET, SCALES_ARE_F16; of the body or the form: TILE_COLUMNS.
const SIDE = 16u;   // of a matrix
const LANES = 32u;  // of a subgroup
const SIDE_VECTORS = SIDE / 8u;
const COLUMNS = TILE_COLUMNS / N_MATS;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sums = subgroup_matrix_result<f32, 16, 16>;

// The weight row of a tile's column: with a pair of matrices, sixteen of the first and the same of the second in turn.
fn weight_row_in_turn(first_column: u32, t: u32) -> u32 {
  let column = first_column + t / (SIDE * N_MATS) * SIDE + t % SIDE;
  return min(column, N_OUT - 1u) + t / SIDE % N_MATS * PAIR_OFFSET;
}

// Four weights as f16, of levels as signed bytes. The last bits of 0x6400, which is 1024 in f16, are whole numbers: a level
// with its sign flipped is 1024 + 128 more. A scale that is no f16 itself would cost a group more than rounding each weight.
fn weights_of(levels: u32, scale: vec2<f32>) -> vec2<u32> {
  if (!SCALES_ARE_F16) {
    return bitcast<vec2<u32>>(vec4<f16>(vec4<f32>(unpack4xI8(levels)) * scale.x + scale.y));
  }
  let word = levels ^ 0x80808080u;
  let even = bitcast<vec2<f16>>((word & 0x00FF00FFu) | 0x64006400u) - 1152.0h;
  let odd = bitcast<vec2<f16>>(((word >> 8u) & 0x00FF00FFu) | 0x64006400u) - 1152.0h;
  let a = fma(even, vec2<f16>(f16(scale.x)), vec2<f16>(f16(scale.y)));
  let b = fma(odd, vec2<f16>(f16(scale.x)), vec2<f16>(f16(scale.y)));
  return bitcast<vec2<u32>>(vec4<f16>(a.x, b.x, a.y, b.y));
}

fn eight_weights(levels: vec2<u32>, scale: vec2<f32>) -> vec4<u32> {
  return vec4<u32>(weights_of(levels.x, scale), weights_of(levels.y, scale));
}
