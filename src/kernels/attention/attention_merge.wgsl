// Merges the shares of one head: out = sum_s exp(max_s - max) sums_s / sum_s exp(max_s - max) weight_s.
// A thread sums a quad over every GROUPS-th share, BLOCK at a time, under the largest so far; the groups' sums are merged alike.
// Consts: N_HEADS, HEAD_DIM, N_SPLITS, SPLIT, WORKGROUP. Bindings: 0 step, 1 partials, 2 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<Elem>>;

const QUADS = HEAD_DIM / 4u;
const GROUPS = WORKGROUP / QUADS;
const BLOCK = 4u;
const BLOCKS = (N_SPLITS + BLOCK * GROUPS - 1u) / (BLOCK * GROUPS);
const LOWEST = -3.0e38;

var<workgroup> sums: array<vec4<f32>, GROUPS * QUADS>;
var<workgroup> weights: array<f32, GROUPS>;
var<workgroup> maxima: array<f32, GROUPS>;

struct Shares {
  quads: array<vec4<f32>, BLOCK>,
  stats: array<vec2<f32>, BLOCK>,  // maximum, weight
}

fn share(block: u32, i: u32, group: u32) -> u32 {
  return (block * BLOCK + i) * GROUPS + group;
}

// Those beyond the last active share hold anything.
fn ask_for_shares(head: u32, block: u32, group: u32, quad: u32) -> Shares {
  var shares = Shares();
  for (var i = 0u; i < BLOCK; i++) {
    let at = (head * N_SPLITS + min(share(block, i, group), N_SPLITS - 1u)) * (QUADS + 1u);
    shares.quads[i] = partials[at + quad];
    shares.stats[i] = partials[at + QUADS].xy;
  }
  return shares;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let quad = thread % QUADS;
  let group = thread / QUADS;
  if (group < GROUPS) {
    // The first block is asked for before it is known how many shares there are.
    var shares = ask_for_shares(workgroup.x, 0u, group, quad);
    let n_active = step_state.position / SPLIT + 1u;
    var highest = LOWEST;
    var sum = vec4<f32>();
    var weight = 0.0;
    for (var block = 0u; block < BLOCKS; block++) {
      if (share(block, 0u, 0u) >= n_active) {
        break;
      }
      var top = highest;
      for (var i = 0u; i < BLOCK; i++) {
        top = max(top, select(LOWEST, shares.stats[i].x, share(block, i, group) < n_active));
      }
      let kept = exp(highest - top);
      highest = top;
      sum *= kept;
      weight *= kept;
      for (var i = 0u; i < BLOCK; i++) {
        let is_active = share(block, i, group) < n_active;
        let factor = exp(shares.stats[i].x - top);
        sum += select(vec4<f32>(), factor * shares.quads[i], is_active);
        weight += select(0.0, factor * shares.stats[i].y, is_active);
      }
      if (block + 1u < BLOCKS && share(block + 1u, 0u, 0u) < n_active) {
        shares = ask_for_shares(workgroup.x, block + 1u, group, quad);
      }
    }
    sums[group * QUADS + quad] = sum;
    weights[group] = weight;
    maxima[group] = highest;
  }
  workgroupBarrier();  // every group's sums are written
  if (thread < QUADS) {
    var highest = LOWEST;
    for (var g = 0u; g < GROUPS; g++) {
      highest = max(highest, maxima[g]);
    }
    var sum = vec4<f32>();
    var weight = 0.0;
    for (var g = 0u; g < GROUPS; g++) {
      let factor = exp(maxima[g] - highest);
      sum += factor * sums[g * QUADS + thread];
      weight += factor * weights[g];
    }
    out[workgroup.x * QUADS + thread] = vec4<Elem>(sum / weight);
  }
}
