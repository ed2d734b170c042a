// The top TOP_K of N_EXPERTS logits for adapters that are CPUs: one thread a row keeps a sorted list, no barrier.
// Experts come in ascending order, so one that is equal to a kept one stays behind it.
// Consts: N_EXPERTS, TOP_K, STRIDE (columns of logits), WORKGROUP.
// Bindings: 0 step, 1 logits, 2 ids, 3 weights.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> logits: array<u32>;  // bits of f32
@group(0) @binding(2) var<storage, read_write> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x;
  if (row >= step_state.n_rows) {
    return;
  }
  var kept_keys: array<u32, TOP_K>;
  var kept_ids: array<u32, TOP_K>;
  for (var expert = 0u; expert < N_EXPERTS; expert++) {
    let key = to_key(logits[row * STRIDE + expert]);
    if (key > kept_keys[TOP_K - 1u]) {
      var place = TOP_K - 1u;
      for (; place > 0u && kept_keys[place - 1u] < key; place--) {
        kept_keys[place] = kept_keys[place - 1u];
        kept_ids[place] = kept_ids[place - 1u];
      }
      kept_keys[place] = key;
      kept_ids[place] = expert;
    }
  }
  let largest = logit_of(kept_keys[0]);
  var sum = 0.0;
  for (var i = 0u; i < TOP_K; i++) {
    sum += weight_of(kept_keys[i], largest);
  }
  for (var i = 0u; i < TOP_K; i++) {
    ids[row * TOP_K + i] = kept_ids[i];
    weights[row * TOP_K + i] = weight_of(kept_keys[i], largest) / sum;
  }
}
