// Rows of a tiled matmul that are pairs of a row and an expert: workgroup (columns, tile) takes a tile of the pairs of one
// expert. Tiles are numbered so that an expert has as many numbers as it needs or one more, wherever its pairs begin: all
// together pairs / TILE_ROWS + N_EXPERTS, rounded down, whatever experts were chosen.
// Consts: FIRST_EXPERT and N_EXPERTS (of the part), PAIRS_PER_X (that share a row of x).
// Bindings: 5 offsets, 6 order, of group_experts.
@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read> order: array<u32>;

const ROWS_MAY_LACK = true;  // an expert's last tile is rarely full, and often its only one
const ROWS_LOOKED_UP = true;

// Expert e, counted within the part, has tiles [first_tile(e), first_tile(e + 1)).
fn first_tile(expert: u32) -> u32 {
  return (offsets[FIRST_EXPERT + expert] - offsets[FIRST_EXPERT]) / TILE_ROWS + expert;
}

fn rows_of(workgroup: vec3<u32>) -> TileRows {
  var expert = 0u;  // the last one whose tiles begin with the workgroup's or before
  var above = N_EXPERTS;
  while (above - expert > 1u) {
    let middle = (expert + above) / 2u;
    if (first_tile(middle) <= workgroup.y) {
      expert = middle;
    } else {
      above = middle;
    }
  }
  let first = offsets[FIRST_EXPERT + expert] + (workgroup.y - first_tile(expert)) * TILE_ROWS;
  let last = min(first + TILE_ROWS, offsets[FIRST_EXPERT + expert + 1u]);
  return TileRows(first, last, expert * N_MATS * N_OUT);
}
fn x_row(place: u32) -> u32 {
  return order[place] / PAIRS_PER_X;
}
fn out_row(place: u32) -> u32 {
  return order[place];
}
