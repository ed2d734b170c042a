// Adds the experts of a row, by their weights, to the residual stream: one thread a quad of a row.
// Consts: QUADS (of a row), TOP_K, WORKGROUP. Bindings: 0 step, 1 weights, 2 down, 3 x (4 and 5 of the shared part).
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> down: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> x: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let quad = id.x;
  let row = id.y;
  if (quad >= QUADS) {
    return;
  }
  var sum = shared_term(row, quad);
  for (var slot = 0u; slot < TOP_K; slot++) {
    let pair = row * TOP_K + slot;
    sum += weights[pair] * down[pair * QUADS + quad];
  }
  x[row * QUADS + quad] += sum;
}
