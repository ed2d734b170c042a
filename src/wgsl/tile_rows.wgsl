// What a part that says which rows a tiled matmul takes (rows_of_matrix, rows_of_experts) gives.

// A tile's rows: places [first, last) of a list, at most TILE_ROWS, for which x_row(place) and out_row(place) are rows of x
// and out; and the first row of the matrix that multiplies them.
struct TileRows {
  first: u32,
  last: u32,
  first_weight_row: u32,
}
