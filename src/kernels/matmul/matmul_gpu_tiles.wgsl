// out = x * W^T for many rows: a workgroup makes a tile of 128 rows by 128 weight rows, each of its 256 threads 8 by 8 of
// them. Half a group of weights at a time, both operands are in workgroup memory as f32, k by k.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET.
// Bindings: 0 words, 1 scales (a weights part), 2 step, 3 x, 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

const TILE = 128u;
const HALF = 16u;  // elements of k in workgroup memory
const COLUMNS = TILE / N_MATS;

// Rows of x from 0, weight rows from W_TILE, as [k][row]. Numbers and not vectors, of which no two threads may write one.
var<workgroup> tiles: array<f32, 2u * HALF * TILE>;
const W_TILE = HALF * TILE;

fn store_quad(tile: u32, row: u32, k: u32, v: vec4<f32>) {
  let at = tile + k * TILE + row;
  tiles[at] = v.x;
  tiles[at + TILE] = v.y;
  tiles[at + 2u * TILE] = v.z;
  tiles[at + 3u * TILE] = v.w;
}

// Four rows of one k.
fn tile_quad(at: u32) -> vec4<f32> {
  return vec4<f32>(tiles[at], tiles[at + 1u], tiles[at + 2u], tiles[at + 3u]);
}

// A thread's sums: rows 4i..4i+3 and 64+4i.. of the tile, by weight rows 4j..4j+3 (a) and 64+4j.. (b). Fields, because
// drivers may keep arrays in memory.
struct Sums {
  a0: vec4<f32>,
  b0: vec4<f32>,
  a1: vec4<f32>,
  b1: vec4<f32>,
  a2: vec4<f32>,
  b2: vec4<f32>,
  a3: vec4<f32>,
  b3: vec4<f32>,
  a4: vec4<f32>,
  b4: vec4<f32>,
  a5: vec4<f32>,
  b5: vec4<f32>,
  a6: vec4<f32>,
  b6: vec4<f32>,
  a7: vec4<f32>,
  b7: vec4<f32>,
}

fn add_products(before: Sums, row_quad: u32, column_quad: u32) -> Sums {
  var s = before;
  for (var k = 0u; k < HALF; k++) {
    let at = k * TILE;
    let low = tile_quad(at + 4u * row_quad);
    let high = tile_quad(at + TILE / 2u + 4u * row_quad);
    let wa = tile_quad(W_TILE + at + 4u * column_quad);
    let wb = tile_quad(W_TILE + at + TILE / 2u + 4u * column_quad);
    s.a0 += low.x * wa;
    s.b0 += low.x * wb;
    s.a1 += low.y * wa;
    s.b1 += low.y * wb;
    s.a2 += low.z * wa;
    s.b2 += low.z * wb;
    s.a3 += low.w * wa;
    s.b3 += low.w * wb;
    s.a4 += high.x * wa;
    s.b4 += high.x * wb;
    s.a5 += high.y * wa;
    s.b5 += high.y * wb;
    s.a6 += high.z * wa;
    s.b6 += high.z * wb;
    s.a7 += high.w * wa;
    s.b7 += high.w * wb;
  }
  return s;
}

// Stores a thread's sums of one row.
fn finish_row(row: u32, first_column: u32, a: vec4<f32>, b: vec4<f32>) {
  if (row >= n_active_rows()) {
    return;
  }
  for (var c = 0u; c < 4u; c++) {
    let column = first_column + c;
    if (column < N_OUT) {
      finish(row, column, a[c], b[c]);
    }
    if (N_MATS == 1u && column + TILE / 2u < N_OUT) {
      finish(row, column + TILE / 2u, b[c], 0.0);
    }
  }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let n_rows = n_active_rows();
  let first_row = workgroup.y * TILE;
  let first_column = workgroup.x * COLUMNS;
  // Loading: a thread brings two quads of one row of x, and of one weight row.
  let load_row = thread / 2u;
  let first_quad = thread % 2u * 2u;
  let x_first = min(first_row + load_row, n_rows - 1u) * (8u * N_GROUPS) + first_quad;
  let w_first = weight_row(first_column, load_row) * N_GROUPS;
  let row_quad = thread / 16u;
  let column_quad = thread % 16u;
  var sums = Sums();
  for (var g = 0u; g < N_GROUPS; g++) {
    let q0 = group_quads(w_first + g, first_quad);
    let q1 = group_quads(w_first + g, first_quad + 1u);
    let scale = group_scale(w_first + g);
    let x_at = x_first + 8u * g;
    let x0 = vec4<f32>(x[x_at]);
    let x1 = vec4<f32>(x[x_at + 1u]);
    let x2 = vec4<f32>(x[x_at + 4u]);
    let x3 = vec4<f32>(x[x_at + 5u]);
    workgroupBarrier();  // the tiles before are used up
    store_quad(0u, load_row, 4u * first_quad, x0);
    store_quad(0u, load_row, 4u * first_quad + 4u, x1);
    store_quad(W_TILE, load_row, 4u * first_quad, scale.x * q0.lo + scale.y);
    store_quad(W_TILE, load_row, 4u * first_quad + 4u, scale.x * q1.lo + scale.y);
    workgroupBarrier();  // the first half is complete
    sums = add_products(sums, row_quad, column_quad);
    workgroupBarrier();  // and used up
    store_quad(0u, load_row, 4u * first_quad, x2);
    store_quad(0u, load_row, 4u * first_quad + 4u, x3);
    store_quad(W_TILE, load_row, 4u * first_quad, scale.x * q0.hi + scale.y);
    store_quad(W_TILE, load_row, 4u * first_quad + 4u, scale.x * q1.hi + scale.y);
    workgroupBarrier();  // the second half is complete
    sums = add_products(sums, row_quad, column_quad);
  }
  let row = first_row + 4u * row_quad;
  let column = first_column + 4u * column_quad;
  finish_row(row + 0u, column, sums.a0, sums.b0);
  finish_row(row + 1u, column, sums.a1, sums.b1);
  finish_row(row + 2u, column, sums.a2, sums.b2);
  finish_row(row + 3u, column, sums.a3, sums.b3);
  finish_row(row + TILE / 2u + 0u, column, sums.a4, sums.b4);
  finish_row(row + TILE / 2u + 1u, column, sums.a5, sums.b5);
  finish_row(row + TILE / 2u + 2u, column, sums.a6, sums.b6);
  finish_row(row + TILE / 2u + 3u, column, sums.a7, sums.b7);
}
