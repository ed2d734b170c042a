// Four sums at once over a workgroup of WORKGROUP threads (a power of two), without subgroups. The order is fixed.
var<workgroup> reduce_slots: array<vec4<f32>, WORKGROUP>;

fn reduce_sum4(value: vec4<f32>, thread: u32) -> vec4<f32> {
  reduce_slots[thread] = value;
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();  // slots of the level before are written
    if (thread < stride) {
      reduce_slots[thread] += reduce_slots[thread + stride];
    }
  }
  workgroupBarrier();  // slot 0 is the result
  let result = reduce_slots[0];
  workgroupBarrier();  // all have read it before a next call writes
  return result;
}
