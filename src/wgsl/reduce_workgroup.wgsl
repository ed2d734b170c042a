// Sums and maxima over a workgroup of WORKGROUP threads (a power of two), without subgroups. The order is fixed.
var<workgroup> reduce_slots: array<f32, WORKGROUP>;

fn reduce_sum(value: f32, thread: u32) -> f32 {
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

fn reduce_max(value: f32, thread: u32) -> f32 {
  reduce_slots[thread] = value;
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();  // slots of the level before are written
    if (thread < stride) {
      reduce_slots[thread] = max(reduce_slots[thread], reduce_slots[thread + stride]);
    }
  }
  workgroupBarrier();  // slot 0 is the result
  let result = reduce_slots[0];
  workgroupBarrier();  // all have read it before a next call writes
  return result;
}
