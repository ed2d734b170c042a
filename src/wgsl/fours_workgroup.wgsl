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
  slots[thread].y = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 4u * 4u;
  return (slots[first].y + slots[first + 1u].y) + (slots[first + 2u].y + slots[first + 3u].y);
}
// The four's values in order.
fn fours_join(value: u32, thread: u32) -> vec4<u32> {
  joined[thread] = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 4u * 4u;
  let four = vec4<u32>(joined[first], joined[first + 1u], joined[first + 2u], joined[first + 3u]);
  workgroupBarrier();  // and was read
  return four;
}
