// Stages of the matmuls by subgroup matrices: STAGE groups of a tile's rows of x and of its weight rows, as f16 in workgroup
// memory.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, TILE_ROWS, TILE_COLUMNS, STAGE,
// SCALES_ARE_F16; of the body: WORKGROUP, BAND_ROWS and BAND_COLUMNS, the bands of both that subgroups multiply. In an array
// for each band, matrices begin at places that are known: Tint checks where a load ends, which else costs half the speed.
// Bindings: 0 words, 1 scales (a levels part), 2 step, 3 x.
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;  // eight f16 each

const SIDE = 16u;   // of a matrix
const LANES = 32u;  // of a subgroup
const COLUMNS = TILE_COLUMNS / N_MATS;
const STAGE_VECTORS = 4u * STAGE;   // of a row: eight f16 each
const SIDE_VECTORS = SIDE / 8u;
const STRIDE = STAGE_VECTORS + 1u;  // odd, so that the rows of a matrix meet different banks
const X_LOADS = TILE_ROWS * STAGE_VECTORS / WORKGROUP;
const W_LOADS = TILE_COLUMNS * STAGE / WORKGROUP;
const_assert X_LOADS * WORKGROUP == TILE_ROWS * STAGE_VECTORS;
const_assert W_LOADS * WORKGROUP == TILE_COLUMNS * STAGE;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sums = subgroup_matrix_result<f32, 16, 16>;

var<workgroup> x_tile: array<array<vec4<u32>, BAND_ROWS * STRIDE>, TILE_ROWS / BAND_ROWS>;           // [band][row][k]
var<workgroup> w_tile: array<array<vec4<u32>, BAND_COLUMNS * STRIDE>, TILE_COLUMNS / BAND_COLUMNS>;  // [band][column][k]

// The weight row of a tile's column: with a pair of matrices, sixteen of the first and the same of the second in turn.
fn weight_row_in_turn(first_column: u32, t: u32) -> u32 {
  let column = first_column + t / (SIDE * N_MATS) * SIDE + t % SIDE;
  return min(column, N_OUT - 1u) + t / SIDE % N_MATS * PAIR_OFFSET;
}

// What a thread brings of a stage.
struct Stage {
  vectors: array<vec4<u32>, X_LOADS>,
  levels: array<Levels, W_LOADS>,
}

// Asks for groups [first, first + STAGE) of both operands. Weights beyond the last group are 0.
fn load_stage(first: u32, rows: TileRows, first_column: u32, thread: u32) -> Stage {
  var stage = Stage();
  for (var i = 0u; i < X_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let row = x_row(min(rows.first + at / STAGE_VECTORS, rows.last - 1u));
    stage.vectors[i] = x[row * (4u * N_GROUPS) + min(4u * first + at % STAGE_VECTORS, 4u * N_GROUPS - 1u)];
  }
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let group = first + at % STAGE;
    let row = rows.first_weight_row + weight_row_in_turn(first_column, at / STAGE);
    stage.levels[i] = load_levels(row * N_GROUPS + min(group, N_GROUPS - 1u));
    stage.levels[i].scale = select(vec2<f32>(), stage.levels[i].scale, group < N_GROUPS);
  }
  return stage;
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

// Puts a stage into workgroup memory.
fn store_stage(stage: Stage, thread: u32) {
  workgroupBarrier();  // the stage before is used up
  for (var i = 0u; i < X_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let row = at / STAGE_VECTORS;
    x_tile[row / BAND_ROWS][row % BAND_ROWS * STRIDE + at % STAGE_VECTORS] = stage.vectors[i];
  }
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let column = at / STAGE;
    let band = column / BAND_COLUMNS;
    let to = column % BAND_COLUMNS * STRIDE + at % STAGE * 4u;
    let levels = stage.levels[i];
    w_tile[band][to] = vec4<u32>(weights_of(levels.a.x, levels.scale), weights_of(levels.a.y, levels.scale));
    w_tile[band][to + 1u] = vec4<u32>(weights_of(levels.a.z, levels.scale), weights_of(levels.a.w, levels.scale));
    w_tile[band][to + 2u] = vec4<u32>(weights_of(levels.b.x, levels.scale), weights_of(levels.b.y, levels.scale));
    w_tile[band][to + 3u] = vec4<u32>(weights_of(levels.b.z, levels.scale), weights_of(levels.b.w, levels.scale));
  }
  workgroupBarrier();  // the stage is complete
}
