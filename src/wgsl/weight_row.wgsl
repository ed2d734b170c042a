// Weight row `t` of a tile's COLUMNS columns from `first_column` on; with a pair of matrices the second half of the rows are
// the second matrix's. Columns beyond the last are taken as the last.
fn weight_row(first_column: u32, t: u32) -> u32 {
  return min(first_column + t % COLUMNS, N_OUT - 1u) + t / COLUMNS * PAIR_OFFSET;
}
