// What an epilogue adds to, asked for ahead: nothing. Needs an epilogue part.
fn out_before(row: u32, column: u32) -> f32 {
  return 0.0;
}
fn finish_after(before: f32, row: u32, column: u32, a: f32, b: f32) {
  finish(row, column, a, b);
}
