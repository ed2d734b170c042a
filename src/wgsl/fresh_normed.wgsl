// Queries and keys get an RMS norm before they are rotated. Consts: HEAD_DIM, EPS. Binding: 7 weights [2, HEAD_DIM] of
// q and k.
@group(0) @binding(7) var<storage, read> qk_norm: array<f32>;

const NORMED = true;

fn norm_factor(squares: f32) -> f32 {
  return inverseSqrt(squares / f32(HEAD_DIM) + EPS);
}
fn norm_weight(is_key: bool, element: u32) -> f32 {
  return qk_norm[select(0u, HEAD_DIM, is_key) + element];
}
