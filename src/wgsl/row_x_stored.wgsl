// x of a row kernel as it is stored. Binding: 3 x.
@group(0) @binding(3) var<storage, read> x: array<vec4<Elem>>;

const NORMED = false;

struct Quad {
  x: vec4<f32>,
}

fn load_quad(q: u32) -> Quad {
  return Quad(vec4<f32>(x[q]));
}
fn weighed(quad: Quad) -> vec4<f32> {
  return quad.x;
}
fn norm_scale(squares: f32) -> f32 {
  return 1.0;
}
