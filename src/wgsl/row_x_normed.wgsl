// x of a row kernel is the RMS norm of the residual stream. Its scale is the row's own, so it multiplies the products
// at the end: nothing waits for it.
// Const: EPS. Bindings: 3 residual stream, 5 weight of the norm.
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> norm_weight: array<vec4<f32>>;

const NORMED = true;

fn x_first_quad() -> u32 {
  return source_row(0u) * (8u * N_GROUPS);
}
fn raw_quad(q: u32) -> vec4<f32> {
  return x[q];
}
fn weighed_quad(q: u32, raw: vec4<f32>) -> vec4<f32> {
  return raw * norm_weight[q % (8u * N_GROUPS)];
}
fn norm_scale(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(32u * N_GROUPS) + EPS);
}
