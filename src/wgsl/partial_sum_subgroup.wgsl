// Sums over `width` neighbouring threads of a team by shuffles, in subgroups of any size: as many threads as a subgroup has,
// a power of two, but no more than thirty-two.
const WIDEST = min(LANES, 32u);

fn sum_width() -> u32 {
  return min(subgroupAdd(1u), WIDEST);
}
fn begins_team(thread: u32, width: u32) -> bool {
  return (thread & (width - 1u)) == 0u;
}
fn partial_sum(value: vec2<f32>, width: u32) -> vec2<f32> {
  var sum = value;
  for (var i = 0u; i < 5u; i++) {
    let other = subgroupShuffleXor(sum, 1u << i);
    sum += select(vec2<f32>(), other, (1u << i) < width);
  }
  return sum;
}
