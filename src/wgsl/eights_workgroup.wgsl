// Maxima and sums over eight neighbouring threads through workgroup memory: `slots` of the body, one a thread. Called in
// turn, so that one's barrier is the other's proof that all have read.
fn eights_max(value: f32, thread: u32) -> f32 {
  slots[thread].x = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 8u * 8u;
  var result = value;
  for (var i = 0u; i < 8u; i++) {
    result = max(result, slots[first + i].x);
  }
  return result;
}
fn eights_sum(value: f32, thread: u32) -> f32 {
  slots[thread].y = value;
  workgroupBarrier();  // every thread's value is there
  let first = thread / 8u * 8u;
  var result = 0.0;
  for (var i = 0u; i < 8u; i++) {
    result += slots[first + i].y;
  }
  return result;
}
