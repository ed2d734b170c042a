// Functions of gates. exp only sees numbers that aren't positive, so nothing overflows.
fn sigmoid(v: f32) -> f32 {
  let e = exp(-abs(v));
  return select(e, 1.0, v >= 0.0) / (1.0 + e);
}

fn silu(v: f32) -> f32 {
  return v * sigmoid(v);
}
