// Maxima and sums over four neighbouring threads through workgroup memory: `slots` of the body, one a thread. Called in
// turn, so that one's barrier is the other's proof that all have read.
var<workgroup> joined: array<u32, WORKGROUP>;

fn fours_max(value: f32, thread: u32) -> f32 {
  slots[thread].x = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 4u * 4u;
  return max(max(slots[first].x, slots[first + 1u].x), max(slots[first + 2u].x, slots[first + 3u].x));
}
fn fours_sum(value: f32, thread: u32) -> f32 {
  workgroupBarrier();  // all have read before a vector is written, of which this is a part
  slots[thread].y = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 4u * 4u;
  return (slots[first].y + slots[first + 1u].y) + (slots[first + 2u].y + slots[first + 3u].y);
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
