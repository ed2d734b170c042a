// Maxima and sums over eight neighbouring threads with subgroup operations. Subgroups have eight threads or more.
fn eights_max(value: f32, thread: u32) -> f32 {
  let twos = max(value, subgroupShuffleXor(value, 1u));
  let fours = max(twos, subgroupShuffleXor(twos, 2u));
  return max(fours, subgroupShuffleXor(fours, 4u));
}
fn eights_sum(value: f32, thread: u32) -> f32 {
  let twos = value + subgroupShuffleXor(value, 1u);
  let fours = twos + subgroupShuffleXor(twos, 2u);
  return fours + subgroupShuffleXor(fours, 4u);
}
