// The largest of BLOCK logits, one thread a block; NaN never wins, the lowest index wins ties.
// Consts: N_VALID (logits that are tokens), BLOCK, N_BLOCKS, WORKGROUP.
// Bindings: 0 logits, 1 candidates: for each block (value bits, index, logits that are not finite, 0).
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> candidates: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let block = id.x;
  if (block >= N_BLOCKS) {
    return;
  }
  let first = block * BLOCK;
  let last = min(first + BLOCK, N_VALID);
  var best = -3.4028234663852886e38;
  var best_index = first;
  var n_not_finite = 0u;
  for (var i = first; i < last; i++) {
    let value = logits[i];
    // Compared as bits, because shader compilers may assume that no float is NaN or infinite.
    if ((bitcast<u32>(value) & 0x7F800000u) == 0x7F800000u) {
      n_not_finite++;
    } else if (value > best) {
      best = value;
      best_index = i;
    }
  }
  candidates[block] = vec4<u32>(bitcast<u32>(best), best_index, n_not_finite, 0u);
}
