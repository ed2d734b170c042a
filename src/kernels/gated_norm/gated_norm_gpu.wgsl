// RMS norm of each head, gated: one workgroup handles one head of one row.
// Consts: N_HEADS, HEAD_DIM, X_STRIDE, FIRST (column of x), EPS, WORKGROUP.
// Bindings: 0 step, 1 o, 2 x, 3 weight, 4 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> o: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<Elem>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let row = workgroup.y;
  let first = (row * N_HEADS + head) * HEAD_DIM;
  let first_gate = row * X_STRIDE + FIRST + head * HEAD_DIM;
  var sum = 0.0;
  for (var i = thread; i < HEAD_DIM; i += WORKGROUP) {
    sum += o[first + i] * o[first + i];
  }
  let scale = inverseSqrt(reduce_sum(sum, thread) / f32(HEAD_DIM) + EPS);
  for (var i = thread; i < HEAD_DIM; i += WORKGROUP) {
    out[first + i] = Elem(o[first + i] * scale * weight[i] * silu(f32(x[first_gate + i])));
  }
}
