// Maxima and sums over four neighbouring threads with subgroup operations: no subgroup is smaller.
fn fours_max(value: f32, thread: u32) -> f32 {
  let twos = max(value, subgroupShuffleXor(value, 1u));
  return max(twos, subgroupShuffleXor(twos, 2u));
}
fn fours_sum(value: f32, thread: u32) -> f32 {
  let twos = value + subgroupShuffleXor(value, 1u);
  return twos + subgroupShuffleXor(twos, 2u);
}
