// x of a row kernel is the RMS norm of the residual stream. Its scale is the row's own, so it multiplies the products
// at the end: nothing waits for it.
// Const: EPS. Bindings: 3 residual stream, 5 weight of the norm. Needs a rows part.
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> norm_weight: array<vec4<f32>>;

const NORMED = true;

// As loaded; what is done with it comes later, so that loads need not wait for each other.
struct Quad {
  x: vec4<f32>,
  weight: vec4<f32>,
}

fn load_quad(q: u32) -> Quad {
  return Quad(x[source_row(0u) * (8u * N_GROUPS) + q], norm_weight[q]);
}
fn weighed(quad: Quad) -> vec4<f32> {
  return quad.x * quad.weight;
}
fn norm_scale(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(32u * N_GROUPS) + EPS);
}
