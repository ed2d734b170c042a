// Rows of a kernel that works on every row of the pass. STEP is bound by the body.
fn n_active_rows() -> u32 {
  return step_state.n_rows;
}
fn source_row(row: u32) -> u32 {
  return row;
}
