// out = x * W^T for few rows by subgroup matrices: a workgroup makes up to thirty-two rows of x by thirty-two weight rows. Its
// subgroups share the rows' length: of a round each takes a stage of two groups, with x out of the cache, from weights that all
// bring together; at the end their sums are joined. Named matrices, because drivers keep arrays of them in memory.
// Consts: N_GROUPS (of a weight row, an even number), SUBGROUPS. Parts: matrix_weights, a matrix_group part (bindings 0 words,
// 1 scales), one that says which rows, an epilogue part (binding 4 out). Bindings: 2 step, 3 x.
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;  // eight f16 each

const TILE_ROWS = 2u * SIDE;
const TILE_COLUMNS = 2u * SIDE;
const WORKGROUP = LANES * SUBGROUPS;
const STAGE = 2u;                // groups
const STRIDE = 4u * STAGE + 1u;  // of a weight row, odd, so that the rows of a matrix meet different banks
const ROW_VECTORS = 4u * N_GROUPS;
const W_LOADS = TILE_COLUMNS * STAGE / LANES;
const ROUND = STAGE * SUBGROUPS;  // groups of all subgroups
const ROUNDS = (N_GROUPS + ROUND - 1u) / ROUND;
const RESULTS = SIDE * SIDE / WORKGROUP;  // elements of a matrix, a thread
const_assert RESULTS * WORKGROUP == SIDE * SIDE;
const_assert N_GROUPS % STAGE == 0u;

// [subgroup][column][k]. One vector more than needed, so that a row's groups, in several of these, meet different banks.
var<workgroup> w_tile: array<array<vec4<u32>, TILE_COLUMNS * STRIDE + 1u>, SUBGROUPS>;
var<workgroup> results: array<array<f32, SIDE * SIDE>, SUBGROUPS>;

// Asks for a thread's part of a round of the weight rows, `first` on: neighbours take the groups of a row.
fn load_part(first: u32, first_column: u32, thread: u32) -> array<Group, W_LOADS> {
  var part = array<Group, W_LOADS>();
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let group = first + at % ROUND;
    let row = weight_row_in_turn(first_column, at / ROUND);
    part[i] = load_group(row * N_GROUPS + min(group, N_GROUPS - 1u), group < N_GROUPS);
  }
  return part;
}

// Puts them where the subgroup whose stage they are finds them.
fn store_part(part: array<Group, W_LOADS>, thread: u32, zero: u32) {
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let subgroup = at % ROUND / STAGE;
    let to = at / ROUND * STRIDE + at % STAGE * 4u;
    let halves = group_halves(part[i], zero);
    w_tile[subgroup][to] = halves.a;
    w_tile[subgroup][to + 1u] = halves.b;
    w_tile[subgroup][to + 2u] = halves.c;
    w_tile[subgroup][to + 3u] = halves.d;
  }
}

// Sixteen elements of sixteen rows of x, `step` matrices behind the one at `at`.
fn x_matrix(at: u32, step: u32) -> Left {
  return subgroupMatrixLoad<Left, row_major>(&x, at + step * SIDE_VECTORS, ROW_VECTORS);
}

// The products with sixteen weight rows of a subgroup's stage, from column `column` of the tile.
fn multiply(x0: Left, x1: Left, x2: Left, x3: Left, subgroup: u32, column: u32, before: Sums) -> Sums {
  let at = column * STRIDE;
  let w0 = subgroupMatrixLoad<Right, col_major>(&w_tile[subgroup], at, STRIDE);
  let w1 = subgroupMatrixLoad<Right, col_major>(&w_tile[subgroup], at + SIDE_VECTORS, STRIDE);
  let w2 = subgroupMatrixLoad<Right, col_major>(&w_tile[subgroup], at + 2u * SIDE_VECTORS, STRIDE);
  let w3 = subgroupMatrixLoad<Right, col_major>(&w_tile[subgroup], at + 3u * SIDE_VECTORS, STRIDE);
  var sums = subgroupMatrixMultiplyAccumulate(x0, w0, before);
  sums = subgroupMatrixMultiplyAccumulate(x1, w1, sums);
  sums = subgroupMatrixMultiplyAccumulate(x2, w2, sums);
  return subgroupMatrixMultiplyAccumulate(x3, w3, sums);
}

// A thread's elements of a matrix, of all subgroups together.
fn join(sums: Sums, subgroup: u32, thread: u32) -> array<f32, RESULTS> {
  workgroupBarrier();  // the matrix before is used up
  subgroupMatrixStore<row_major>(&results[subgroup], 0u, sums, SIDE);
  workgroupBarrier();  // every subgroup's is there
  var joined = array<f32, RESULTS>();
  for (var i = 0u; i < RESULTS; i++) {
    for (var s = 0u; s < SUBGROUPS; s++) {
      joined[i] += results[s][i * WORKGROUP + thread];
    }
  }
  return joined;
}

fn finish_matrix(first: array<f32, RESULTS>, last: array<f32, RESULTS>, rows: TileRows, place: u32, column: u32, thread: u32) {
  for (var i = 0u; i < RESULTS; i++) {
    let at = i * WORKGROUP + thread;
    let own_place = place + at / SIDE;
    let own_column = column + at % SIDE;
    if (own_place < rows.last && own_column < N_OUT) {
      finish(out_row(own_place), own_column, first[i], last[i]);
    }
  }
}

// Finishes the sums of thirty-two weight rows: of as many columns, or of a pair of matrices.
fn finish_pair(a: Sums, b: Sums, rows: TileRows, place: u32, column: u32, thread: u32) {
  let first = join(a, thread / LANES, thread);
  let last = join(b, thread / LANES, thread);
  if (N_MATS == 2u) {
    finish_matrix(first, last, rows, place, column, thread);
  } else {
    finish_matrix(first, first, rows, place, column, thread);
    finish_matrix(last, last, rows, place, column + SIDE, thread);
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
  let more = rows.last - rows.first > SIDE;
  var sums0a: Sums;
  var sums0b: Sums;
  var sums1a: Sums;
  var sums1b: Sums;
  var part = load_part(0u, first_column, thread);
  for (var round = 0u; round < ROUNDS; round++) {
    let stage = round * SUBGROUPS + subgroup;
    // Rows beyond the last hold anything, of which the rows of the result that count take nothing.
    let at = rows.first * ROW_VECTORS + min(stage * STAGE, N_GROUPS - STAGE) * 4u;
    let x0 = x_matrix(at, 0u);
    let x1 = x_matrix(at, 1u);
    let x2 = x_matrix(at, 2u);
    let x3 = x_matrix(at, 3u);
    workgroupBarrier();  // the round before is used up
    store_part(part, thread, workgroup.z);
    part = load_part((round + 1u) * ROUND, first_column, thread);  // under way while this one is multiplied
    workgroupBarrier();  // the round is complete
    sums0a = multiply(x0, x1, x2, x3, subgroup, 0u, sums0a);
    sums0b = multiply(x0, x1, x2, x3, subgroup, SIDE, sums0b);
    if (more) {
      let below = at + SIDE * ROW_VECTORS;
      let y0 = x_matrix(below, 0u);
      let y1 = x_matrix(below, 1u);
      let y2 = x_matrix(below, 2u);
      let y3 = x_matrix(below, 3u);
      sums1a = multiply(y0, y1, y2, y3, subgroup, 0u, sums1a);
      sums1b = multiply(y0, y1, y2, y3, subgroup, SIDE, sums1b);
    }
  }
  finish_pair(sums0a, sums0b, rows, rows.first, first_column, thread);
  if (more) {
    finish_pair(sums1a, sums1b, rows, rows.first + SIDE, first_column, thread);
  }
}
