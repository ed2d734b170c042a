// Rows of a kernel that works on the last row of the pass only, and writes it as row 0.
fn n_active_rows() -> u32 {
  return 1u;
}
fn source_row(row: u32) -> u32 {
  return step_state.n_rows - 1u;
}
