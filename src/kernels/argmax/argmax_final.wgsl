// The best of the blocks' candidates becomes the choice: one thread, N_BLOCKS candidates, for adapters that are CPUs.
// Consts: N_BLOCKS, WORKGROUP (unused). Bindings: 0 candidates, 1 step.
@group(0) @binding(0) var<storage, read> candidates: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> step_state: Step;

@compute @workgroup_size(1)
fn main() {
  var best = candidates[0];
  var n_not_finite = best.z;
  for (var i = 1u; i < N_BLOCKS; i++) {
    let candidate = candidates[i];
    n_not_finite += candidate.z;
    if (bitcast<f32>(candidate.x) > bitcast<f32>(best.x)) {
      best = candidate;
    }
  }
  step_state.choice = best.y;
  step_state.n_not_finite += n_not_finite;
}
