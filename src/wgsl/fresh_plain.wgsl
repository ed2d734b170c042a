// Queries and keys are rotated as they are.
const NORMED = false;

fn norm_pair(pair: vec2<f32>, squares: f32, is_key: bool, elements: vec2<u32>) -> vec2<f32> {
  return pair;
}
