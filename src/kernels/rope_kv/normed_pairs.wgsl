// A pair of a head after its norm, by a fresh part.
fn normed_pair(pair: vec2<f32>, factor: f32, is_key: bool, at: vec2<u32>) -> vec2<f32> {
  return pair * factor * vec2<f32>(norm_weight(is_key, at.x), norm_weight(is_key, at.y));
}
