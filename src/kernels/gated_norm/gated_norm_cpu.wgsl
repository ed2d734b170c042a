// RMS norm of each head, gated, for adapters that are CPUs: one thread handles one head of one row, no barrier.
// Consts: N_HEADS, HEAD_DIM, X_STRIDE, FIRST (column of x), EPS, WORKGROUP.
// Bindings: 0 step, 1 o, 2 x, 3 weight, 4 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> o: array<f32>;
@group(0) @binding(2) var<storage, read> x: array<Elem>;
@group(0) @binding(3) var<storage, read> weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x;
  let row = id.y;
  if (head >= N_HEADS || row >= step_state.n_rows) {
    return;
  }
  let first = (row * N_HEADS + head) * HEAD_DIM;
  let first_gate = row * X_STRIDE + FIRST + head * HEAD_DIM;
  var sum = 0.0;
  for (var i = 0u; i < HEAD_DIM; i++) {
    sum += o[first + i] * o[first + i];
  }
  let scale = inverseSqrt(sum / f32(HEAD_DIM) + EPS);
  for (var i = 0u; i < HEAD_DIM; i++) {
    out[first + i] = Elem(o[first + i] * scale * weight[i] * silu(f32(x[first_gate + i])));
  }
}
