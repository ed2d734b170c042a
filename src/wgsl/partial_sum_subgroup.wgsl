// Sums over neighbouring threads with subgroup operations, when a subgroup lies within LANES threads; else none.
fn sum_width() -> u32 {
  let width = subgroupAdd(1u);
  return select(1u, width, width <= LANES);
}
fn partial_sum(value: vec4<f32>, width: u32) -> vec4<f32> {
  let sum = subgroupAdd(value);
  return select(value, sum, width > 1u);
}
