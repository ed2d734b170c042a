// Sums over teams of LANES neighbouring threads, a power of two of at most 32, by shuffles in subgroups of any width.
fn sum_width() -> u32 {
  return min(subgroupAdd(1u), LANES);
}
fn partial_sum(value: vec2<f32>, width: u32) -> vec2<f32> {
  var sum = value;
  for (var i = 0u; i < 5u; i++) {
    let other = subgroupShuffleXor(sum, 1u << i);
    sum += select(vec2<f32>(), other, (1u << i) < width);
  }
  return sum;
}
