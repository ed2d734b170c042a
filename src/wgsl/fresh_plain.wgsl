// Queries and keys are rotated as they are.
const NORMED = false;

fn norm_factor(squares: f32) -> f32 {
  return 1.0;
}
fn norm_weight(is_key: bool, element: u32) -> f32 {
  return 1.0;
}
