// A counting sort of pairs by expert, one workgroup an expert. A thread owns consecutive pairs: it counts those of
// lower experts and those of its own, then writes its own behind those of the threads before it.
// Consts: N_EXPERTS, TOP_K, WORKGROUP. Bindings: 0 step, 1 ids, 2 offsets, 3 order.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;

var<workgroup> n_lower: array<u32, WORKGROUP>;
var<workgroup> n_own: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let expert = workgroup.x;
  let n_pairs = step_state.n_rows * TOP_K;
  let share = (n_pairs + WORKGROUP - 1u) / WORKGROUP;
  let first = thread * share;
  let last = min(first + share, n_pairs);
  var lower = 0u;
  var own = 0u;
  for (var pair = first; pair < last; pair++) {
    lower += select(0u, 1u, ids[pair] < expert);
    own += select(0u, 1u, ids[pair] == expert);
  }
  n_lower[thread] = lower;
  n_own[thread] = own;
  workgroupBarrier();  // every thread's counts are written
  var place = 0u;
  for (var t = 0u; t < WORKGROUP; t++) {
    place += n_lower[t] + select(0u, n_own[t], t < thread);
  }
  if (thread == 0u) {
    offsets[expert] = place;
  }
  for (var pair = first; pair < last; pair++) {
    if (ids[pair] == expert) {
      order[place] = pair;
      place++;
    }
  }
  if (expert == N_EXPERTS - 1u && thread == WORKGROUP - 1u) {
    offsets[N_EXPERTS] = place;
  }
}
