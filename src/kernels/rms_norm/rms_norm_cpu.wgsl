// RMS norm for adapters that are CPUs: one thread a row, no barrier.
// Consts: DIM, EPS, WORKGROUP. Bindings: 0 step, 1 x, 2 weight, 3 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x;
  if (row >= n_active_rows()) {
    return;
  }
  let first = source_row(row) * DIM;
  var sum = 0.0;
  for (var i = 0u; i < DIM; i++) {
    sum += x[first + i] * x[first + i];
  }
  let scale = inverseSqrt(sum / f32(DIM) + EPS);
  for (var i = 0u; i < DIM; i++) {
    out[row * DIM + i] = Elem(x[first + i] * scale * weight[i]);
  }
}
