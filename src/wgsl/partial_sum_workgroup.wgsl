// Sums over neighbouring threads without subgroup operations: none, every thread's value is added up later.
fn sum_width() -> u32 {
  return 1u;
}
fn partial_sum(value: vec4<f32>, width: u32) -> vec4<f32> {
  return value;
}
