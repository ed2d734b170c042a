// What the matmuls by subgroup matrices share: the matrices, and the weight rows in f16.
// Consts: N_OUT (columns made), N_MATS, PAIR_OFFSET; of the body or the form: TILE_COLUMNS. Needs a matrix_group part.
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

// What a matrix_group part makes of a group: its weights as f16, eight in a vector.
struct Halves {
  a: vec4<u32>,
  b: vec4<u32>,
  c: vec4<u32>,
  d: vec4<u32>,
}

// The weights of four levels, of which the even and the odd ones are given.
fn weights_in_order(even: vec2<f16>, odd: vec2<f16>, scale: vec2<f16>) -> vec2<u32> {
  let a = fma(even, vec2<f16>(scale.x), vec2<f16>(scale.y));
  let b = fma(odd, vec2<f16>(scale.x), vec2<f16>(scale.y));
  return bitcast<vec2<u32>>(vec4<f16>(a.x, b.x, a.y, b.y));
}
