// out = x * W^T by subgroup matrices: a workgroup makes a tile of TILE_ROWS rows of x by TILE_COLUMNS weight rows, each of its
// subgroups four by two matrices of sums in f32. Named, because drivers keep arrays of matrices in memory.
// Parts: matrix_stage, matrix_weights, one that says which rows, an epilogue part (binding 4 out).
const BAND_ROWS = 4u * SIDE;
const BAND_COLUMNS = 2u * SIDE;
const SUBGROUPS_X = TILE_COLUMNS / BAND_COLUMNS;
const SUBGROUPS_Y = TILE_ROWS / BAND_ROWS;
const WORKGROUP = LANES * SUBGROUPS_X * SUBGROUPS_Y;
const ROUNDS = (N_GROUPS + STAGE - 1u) / STAGE;

var<workgroup> results: array<array<f32, SIDE * SIDE>, SUBGROUPS_X * SUBGROUPS_Y>;

// Finishes a subgroup's matrix of sums, `a`, with one of a pair of matrices that of the same columns in the other, `b`.
fn finish_matrix(a: Sums, b: Sums, rows: TileRows, place: u32, column: u32, thread: u32) {
  let own = thread / LANES;
  let lane = thread % LANES;
  var first = array<f32, SIDE * SIDE / LANES>();
  if (N_MATS == 2u) {
    workgroupBarrier();  // the matrix before is used up
    subgroupMatrixStore<row_major>(&results[own], 0u, a, SIDE);
    workgroupBarrier();  // this one is complete
    for (var i = 0u; i < SIDE * SIDE / LANES; i++) {
      first[i] = results[own][i * LANES + lane];
    }
  }
  workgroupBarrier();  // what was there is used up
  subgroupMatrixStore<row_major>(&results[own], 0u, b, SIDE);
  workgroupBarrier();  // the matrix is complete
  for (var i = 0u; i < SIDE * SIDE / LANES; i++) {
    let at = i * LANES + lane;
    let own_place = place + at / SIDE;
    let own_column = column + at % SIDE;
    if (own_place < rows.last && own_column < N_OUT) {
      let last = results[own][at];
      finish(out_row(own_place), own_column, select(last, first[i], N_MATS == 2u), last);
    }
  }
}

// Finishes the two matrices of the same rows.
fn finish_pair(a: Sums, b: Sums, rows: TileRows, place: u32, column: u32, thread: u32) {
  if (N_MATS == 1u) {
    finish_matrix(a, a, rows, place, column, thread);
    finish_matrix(b, b, rows, place, column + SIDE, thread);
  } else {
    finish_matrix(a, b, rows, place, column, thread);
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let rows = rows_of(workgroup);
  if (rows.first >= rows.last) {
    return;
  }
  let first_column = workgroup.x * COLUMNS;
  let subgroup = thread / LANES;
  let band_y = subgroup / SUBGROUPS_X;
  let band_x = subgroup % SUBGROUPS_X;
  var sums0a: Sums;
  var sums1a: Sums;
  var sums2a: Sums;
  var sums3a: Sums;
  var sums0b: Sums;
  var sums1b: Sums;
  var sums2b: Sums;
  var sums3b: Sums;
  var stage = load_stage(0u, rows, first_column, thread);
  for (var round = 0u; round < ROUNDS; round++) {
    store_stage(stage, thread, workgroup.z);
    stage = load_stage((round + 1u) * STAGE, rows, first_column, thread);  // under way while this one is multiplied
    for (var i = 0u; i < STAGE_VECTORS / SIDE_VECTORS; i++) {
      let k = i * SIDE_VECTORS;
      let x0 = subgroupMatrixLoad<Left, row_major>(&x_tile[band_y], k, STRIDE);
      let x1 = subgroupMatrixLoad<Left, row_major>(&x_tile[band_y], SIDE * STRIDE + k, STRIDE);
      let x2 = subgroupMatrixLoad<Left, row_major>(&x_tile[band_y], 2u * SIDE * STRIDE + k, STRIDE);
      let x3 = subgroupMatrixLoad<Left, row_major>(&x_tile[band_y], 3u * SIDE * STRIDE + k, STRIDE);
      let a = subgroupMatrixLoad<Right, col_major>(&w_tile[band_x], k, STRIDE);
      sums0a = subgroupMatrixMultiplyAccumulate(x0, a, sums0a);
      sums1a = subgroupMatrixMultiplyAccumulate(x1, a, sums1a);
      sums2a = subgroupMatrixMultiplyAccumulate(x2, a, sums2a);
      sums3a = subgroupMatrixMultiplyAccumulate(x3, a, sums3a);
      let b = subgroupMatrixLoad<Right, col_major>(&w_tile[band_x], SIDE * STRIDE + k, STRIDE);
      sums0b = subgroupMatrixMultiplyAccumulate(x0, b, sums0b);
      sums1b = subgroupMatrixMultiplyAccumulate(x1, b, sums1b);
      sums2b = subgroupMatrixMultiplyAccumulate(x2, b, sums2b);
      sums3b = subgroupMatrixMultiplyAccumulate(x3, b, sums3b);
    }
  }
  let place = rows.first + band_y * BAND_ROWS;
  let column = first_column + band_x * BAND_COLUMNS / N_MATS;
  finish_pair(sums0a, sums0b, rows, place, column, thread);
  finish_pair(sums1a, sums1b, rows, place + SIDE, column, thread);
  finish_pair(sums2a, sums2b, rows, place + 2u * SIDE, column, thread);
  finish_pair(sums3a, sums3b, rows, place + 3u * SIDE, column, thread);
}
