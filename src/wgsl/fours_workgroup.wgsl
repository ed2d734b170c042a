// Maxima and sums over four neighbouring threads through workgroup memory.
var<workgroup> fours: array<f32, WORKGROUP>;
var<workgroup> joined: array<u32, WORKGROUP>;

// Every thread's value, once all have written theirs; before, all have read those of the call before.
fn share_fours(value: f32, thread: u32) -> vec4<f32> {
  workgroupBarrier();
  fours[thread] = value;
  workgroupBarrier();
  let first = thread / 4u * 4u;
  return vec4<f32>(fours[first], fours[first + 1u], fours[first + 2u], fours[first + 3u]);
}
fn fours_max(value: f32, thread: u32) -> f32 {
  return largest(share_fours(value, thread));
}
fn fours_sum(value: f32, thread: u32) -> f32 {
  return total(share_fours(value, thread));
}
// Of a thread and the one beside it: the high words of both for the even one, the low words for the odd one.
fn twos_join(high: u32, low: u32, thread: u32) -> vec2<u32> {
  let is_even = thread % 2u == 0u;
  joined[thread] = select(high, low, is_even);
  workgroupBarrier();  // every thread's word is there
  let taken = joined[thread ^ 1u];
  workgroupBarrier();  // and was read
  return select(vec2<u32>(taken, low), vec2<u32>(high, taken), is_even);
}
