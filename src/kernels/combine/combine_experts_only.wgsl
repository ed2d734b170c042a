// Stands in for combine_shared in a model without a shared expert.
fn shared_term(row: u32, quad: u32) -> vec4<f32> {
  return vec4<f32>();
}
