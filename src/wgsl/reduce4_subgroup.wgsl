// Four sums at once over a workgroup of WORKGROUP threads with subgroup operations, at any subgroup width.
// Threads of a subgroup are neighbours, as every driver lays one-dimensional workgroups out.
var<workgroup> reduce_slots: array<vec4<f32>, WORKGROUP>;

fn reduce_sum4(value: vec4<f32>, thread: u32) -> vec4<f32> {
  let width = subgroupAdd(1u);
  let partial = subgroupAdd(value);
  if (thread % width == 0u) {
    reduce_slots[thread / width] = partial;
  }
  workgroupBarrier();  // every subgroup's partial is written
  var result = vec4<f32>();
  for (var i = 0u; i < WORKGROUP / width; i++) {
    result += reduce_slots[i];
  }
  workgroupBarrier();  // all have read before a next call writes
  return result;
}
