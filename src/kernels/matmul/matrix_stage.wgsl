// Stages of the matmuls by subgroup matrices: STAGE groups of a tile's rows of x and of its weight rows, as f16 in workgroup
// memory.
// Consts: N_GROUPS (of a weight row), TILE_ROWS, TILE_COLUMNS, STAGE; of the body: WORKGROUP, BAND_ROWS and BAND_COLUMNS, the
// bands of both that subgroups multiply. In an array for each band, matrices begin at places that are known: Tint checks
// where a load ends, which else costs half the speed.
// Parts: matrix_weights, a matrix_group part (bindings 0 words, 1 scales). Bindings: 2 step, 3 x.
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;  // eight f16 each

const STAGE_VECTORS = 4u * STAGE;   // of a row: eight f16 each
const STRIDE = STAGE_VECTORS + 1u;  // odd, so that the rows of a matrix meet different banks
const X_LOADS = TILE_ROWS * STAGE_VECTORS / WORKGROUP;
const W_LOADS = TILE_COLUMNS * STAGE / WORKGROUP;
const_assert X_LOADS * WORKGROUP == TILE_ROWS * STAGE_VECTORS;
const_assert W_LOADS * WORKGROUP == TILE_COLUMNS * STAGE;

var<workgroup> x_tile: array<array<vec4<u32>, BAND_ROWS * STRIDE>, TILE_ROWS / BAND_ROWS>;           // [band][row][k]
var<workgroup> w_tile: array<array<vec4<u32>, BAND_COLUMNS * STRIDE>, TILE_COLUMNS / BAND_COLUMNS>;  // [band][column][k]

// What a thread brings of a stage.
struct Stage {
  vectors: array<vec4<u32>, X_LOADS>,
  groups: array<Group, W_LOADS>,
}

// Asks for groups [first, first + STAGE) of both operands.
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
    stage.groups[i] = load_group(row * N_GROUPS + min(group, N_GROUPS - 1u), group < N_GROUPS);
  }
  return stage;
}

// Puts a stage into workgroup memory.
fn store_stage(stage: Stage, thread: u32, zero: u32) {
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
    let halves = group_halves(stage.groups[i], zero);
    w_tile[band][to] = halves.a;
    w_tile[band][to + 1u] = halves.b;
    w_tile[band][to + 2u] = halves.c;
    w_tile[band][to + 3u] = halves.d;
  }
  workgroupBarrier();  // the stage is complete
}
