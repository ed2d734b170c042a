// Maxima and sums over four neighbouring threads with subgroup operations: no subgroup is smaller.
fn fours_max(value: f32, thread: u32) -> f32 {
  let twos = max(value, subgroupShuffleXor(value, 1u));
  return max(twos, subgroupShuffleXor(twos, 2u));
}
fn fours_sum(value: f32, thread: u32) -> f32 {
  let twos = value + subgroupShuffleXor(value, 1u);
  return twos + subgroupShuffleXor(twos, 2u);
}
// Of a thread and the one beside it: the high words of both for the even one, the low words for the odd one.
fn twos_join(high: u32, low: u32, thread: u32) -> vec2<u32> {
  let is_even = thread % 2u == 0u;
  let taken = subgroupShuffleXor(select(high, low, is_even), 1u);
  return select(vec2<u32>(taken, low), vec2<u32>(high, taken), is_even);
}
