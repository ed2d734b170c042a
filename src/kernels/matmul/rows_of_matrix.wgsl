// Rows of a tiled matmul that are those of x, in order: workgroup (columns, rows).
const ROWS_MAY_LACK = false;  // few tiles are not full
const ROWS_LOOKED_UP = false;

fn rows_of(workgroup: vec3<u32>) -> TileRows {
  let first = workgroup.y * TILE_ROWS;
  return TileRows(first, min(first + TILE_ROWS, step_state.n_rows), 0u);
}
fn x_row(place: u32) -> u32 {
  return place;
}
fn out_row(place: u32) -> u32 {
  return place;
}
