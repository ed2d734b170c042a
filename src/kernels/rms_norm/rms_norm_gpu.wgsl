// RMS norm, one workgroup a row.
// Consts: DIM, EPS, WORKGROUP. Bindings: 0 step, 1 x, 2 weight, 3 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.x;
  let first = source_row(row) * DIM;
  var sum = 0.0;
  for (var i = thread; i < DIM; i += WORKGROUP) {
    sum += x[first + i] * x[first + i];
  }
  let scale = inverseSqrt(reduce_sum(sum, thread) / f32(DIM) + EPS);
  for (var i = thread; i < DIM; i += WORKGROUP) {
    out[row * DIM + i] = Elem(x[first + i] * scale * weight[i]);
  }
}
