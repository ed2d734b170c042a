// Queries and keys get an RMS norm before they are rotated. Consts: HEAD_DIM, EPS. Binding: 7 weights [2, HEAD_DIM] of
// q and k.
@group(0) @binding(7) var<storage, read> qk_norm: array<f32>;

const NORMED = true;

fn norm_pair(pair: vec2<f32>, squares: f32, is_key: bool, elements: vec2<u32>) -> vec2<f32> {
  let at = select(0u, HEAD_DIM, is_key) + elements;
  return pair * inverseSqrt(squares / f32(HEAD_DIM) + EPS) * vec2<f32>(qk_norm[at.x], qk_norm[at.y]);
}
