// Sums over neighbouring threads with subgroup operations, when whole subgroups make the LANES threads; else none.
fn sum_width() -> u32 {
  let width = subgroupAdd(1u);
  return select(1u, width, LANES % width == 0u);
}
fn partial_sum(value: vec2<f32>, width: u32) -> vec2<f32> {
  let sum = subgroupAdd(value);
  return select(value, sum, width > 1u);
}
