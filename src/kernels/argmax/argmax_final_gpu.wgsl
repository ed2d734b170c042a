// The best of the blocks' candidates becomes the choice: one workgroup, N_BLOCKS candidates, the lowest index wins ties.
// Consts: N_BLOCKS, WORKGROUP (a power of two). Bindings: 0 candidates, 1 step.
@group(0) @binding(0) var<storage, read> candidates: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> step_state: Step;

var<workgroup> best_of: array<vec4<u32>, WORKGROUP>;

// The better of two candidates, with both counts of logits that are not finite.
fn better(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  let x = bitcast<f32>(a.x);
  let y = bitcast<f32>(b.x);
  let take_b = y > x || (y == x && b.y < a.y);
  return vec4<u32>(select(a.xy, b.xy, take_b), a.z + b.z, 0u);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) thread: u32) {
  // A thread without a candidate repeats the first, but counts nothing.
  var best = vec4<u32>(candidates[0].xy, 0u, 0u);
  for (var i = thread; i < N_BLOCKS; i += WORKGROUP) {
    best = better(best, candidates[i]);
  }
  best_of[thread] = best;
  for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();  // the level before is written
    if (thread < stride) {
      best_of[thread] = better(best_of[thread], best_of[thread + stride]);
    }
  }
  if (thread == 0u) {
    step_state.choice = best_of[0].y;
    step_state.n_not_finite += best_of[0].z;
  }
}
