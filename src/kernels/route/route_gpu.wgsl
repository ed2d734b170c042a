// The top TOP_K of N_EXPERTS logits, one workgroup a row. The rank of an expert is the number of those before it: a
// permutation whatever the logits are, so each place is written by exactly one expert.
// Consts: N_EXPERTS, TOP_K, STRIDE (columns of logits), WORKGROUP.
// Bindings: 0 step, 1 logits, 2 ids, 3 weights.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> logits: array<u32>;  // bits of f32
@group(0) @binding(2) var<storage, read_write> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

const_assert TOP_K <= WORKGROUP;

var<workgroup> keys: array<u32, N_EXPERTS>;
var<workgroup> chosen: array<u32, TOP_K>;  // keys by rank

fn rank_of(expert: u32) -> u32 {
  let key = keys[expert];
  var rank = 0u;
  for (var i = 0u; i < N_EXPERTS; i++) {
    let other = keys[i];
    rank += select(0u, 1u, (other > key) || ((other == key) && (i < expert)));
  }
  return rank;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.x;
  for (var expert = thread; expert < N_EXPERTS; expert += WORKGROUP) {
    keys[expert] = to_key(logits[row * STRIDE + expert]);
  }
  workgroupBarrier();  // all keys are written
  for (var expert = thread; expert < N_EXPERTS; expert += WORKGROUP) {
    let rank = rank_of(expert);
    if (rank < TOP_K) {
      chosen[rank] = keys[expert];
      ids[row * TOP_K + rank] = expert;
    }
  }
  workgroupBarrier();  // the chosen keys are written
  if (thread < TOP_K) {
    let largest = logit_of(chosen[0]);
    var sum = 0.0;
    for (var i = 0u; i < TOP_K; i++) {
      sum += weight_of(chosen[i], largest);
    }
    weights[row * TOP_K + thread] = weight_of(chosen[thread], largest) / sum;
  }
}
