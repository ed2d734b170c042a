// What an epilogue adds to, asked for ahead: the residual stream. Needs finish_residual.
fn out_before(row: u32, column: u32) -> f32 {
  return out[row * OUT_STRIDE + OUT_FIRST + column];
}
fn finish_after(before: f32, row: u32, column: u32, a: f32, b: f32) {
  out[row * OUT_STRIDE + OUT_FIRST + column] = before + a;
}
