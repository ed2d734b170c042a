// mixed *= sigmoid(gate), one thread an element.
// Consts: DIM, X_STRIDE, FIRST (column of x), WORKGROUP. Bindings: 0 step, 1 x, 2 mixed.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<Elem>;
@group(0) @binding(2) var<storage, read_write> mixed: array<Elem>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.y;
  if (id.x >= DIM || row >= step_state.n_rows) {
    return;
  }
  let gate = sigmoid(f32(x[row * X_STRIDE + FIRST + id.x]));
  mixed[row * DIM + id.x] = Elem(f32(mixed[row * DIM + id.x]) * gate);
}
