// Of the elements of a quad.
fn largest(v: vec4<f32>) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}
fn total(v: vec4<f32>) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}
