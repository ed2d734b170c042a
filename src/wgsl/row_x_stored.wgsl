// x of a row kernel as it is stored. Binding: 3 x.
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

const NORMED = false;

fn x_first_quad() -> u32 {
  return 0u;
}
fn raw_quad(q: u32) -> vec4<f32> {
  return vec4<f32>(x[q]);
}
fn weighed_quad(q: u32, raw: vec4<f32>) -> vec4<f32> {
  return raw;
}
fn norm_scale(squares: f32) -> f32 {
  return 1.0;
}
