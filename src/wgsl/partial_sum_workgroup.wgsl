// Sums over neighbouring threads without subgroup operations: none, every thread's value is added up later.
const WIDEST = 1u;

fn sum_width() -> u32 {
  return WIDEST;
}
fn begins_team(thread: u32, width: u32) -> bool {
  return true;
}
fn partial_sum(value: vec2<f32>, width: u32) -> vec2<f32> {
  return value;
}
