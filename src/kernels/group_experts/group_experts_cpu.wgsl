// A counting sort of pairs by expert for adapters that are CPUs: one thread an expert, no barrier.
// Consts: N_EXPERTS, TOP_K, WORKGROUP. Bindings: 0 step, 1 ids, 2 offsets, 3 order.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let expert = id.x;
  if (expert >= N_EXPERTS) {
    return;
  }
  let n_pairs = step_state.n_rows * TOP_K;
  var place = 0u;
  for (var pair = 0u; pair < n_pairs; pair++) {
    place += select(0u, 1u, ids[pair] < expert);
  }
  offsets[expert] = place;
  for (var pair = 0u; pair < n_pairs; pair++) {
    if (ids[pair] == expert) {
      order[place] = pair;
      place++;
    }
  }
  if (expert == N_EXPERTS - 1u) {
    offsets[N_EXPERTS] = place;
  }
}
