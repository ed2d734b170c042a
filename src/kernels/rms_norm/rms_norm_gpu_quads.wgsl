// RMS norm of rows that are whole quads, one workgroup a row.
// Consts: DIM, EPS, WORKGROUP. Bindings: 0 step, 1 x, 2 weight, 3 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<Elem>>;

const QUADS = DIM / 4u;
const_assert DIM % 4u == 0u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.x;
  let first = source_row(row) * QUADS;
  var sum = 0.0;
  for (var i = thread; i < QUADS; i += WORKGROUP) {
    sum += dot(x[first + i], x[first + i]);
  }
  let scale = inverseSqrt(reduce_sum(sum, thread) / f32(DIM) + EPS);
  for (var i = thread; i < QUADS; i += WORKGROUP) {
    out[row * QUADS + i] = vec4<Elem>(x[first + i] * scale * weight[i]);
  }
}
