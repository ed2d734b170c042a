// Maxima and sums over four neighbouring threads with subgroup operations: no subgroup is smaller.
fn fours_max(value: f32, thread: u32) -> f32 {
  let twos = max(value, subgroupShuffleXor(value, 1u));
  return max(twos, subgroupShuffleXor(twos, 2u));
}
fn fours_sum(value: f32, thread: u32) -> f32 {
  let twos = value + subgroupShuffleXor(value, 1u);
  return twos + subgroupShuffleXor(twos, 2u);
}
// The four's values in order.
fn fours_join(value: u32, thread: u32) -> vec4<u32> {
  let beside = subgroupShuffleXor(value, 1u);
  let two = select(vec2<u32>(value, beside), vec2<u32>(beside, value), thread % 2u == 1u);
  let others = subgroupShuffleXor(two, 2u);
  return select(vec4<u32>(two, others), vec4<u32>(others, two), thread % 4u >= 2u);
}
