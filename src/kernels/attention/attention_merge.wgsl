// Merges the shares of one head: out = sum_s exp(max_s - max) sums_s / sum_s exp(max_s - max) weight_s.
// A thread sums a quad over every GROUPS-th share, under the largest of those; the groups' sums are merged alike.
// Consts: N_HEADS, HEAD_DIM, N_SPLITS, SPLIT, WORKGROUP. Bindings: 0 step, 1 partials, 2 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<Elem>>;

const QUADS = HEAD_DIM / 4u;
const GROUPS = WORKGROUP / QUADS;
const LOWEST = -3.0e38;

var<workgroup> sums: array<vec4<f32>, GROUPS * QUADS>;
var<workgroup> weights: array<f32, GROUPS>;
var<workgroup> maxima: array<f32, GROUPS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let n_active = step_state.position / SPLIT + 1u;
  let first = workgroup.x * N_SPLITS * (QUADS + 1u);
  let quad = thread % QUADS;
  let group = thread / QUADS;
  if (group < GROUPS) {
    var highest = LOWEST;
    for (var n = 0u; n < (N_SPLITS + GROUPS - 1u) / GROUPS; n++) {
      let s = n * GROUPS + group;
      if (s >= n_active) {
        break;
      }
      highest = max(highest, partials[first + s * (QUADS + 1u) + QUADS].x);
    }
    var sum = vec4<f32>();
    var weight = 0.0;
    for (var n = 0u; n < (N_SPLITS + GROUPS - 1u) / GROUPS; n++) {
      let s = n * GROUPS + group;
      if (s >= n_active) {
        break;
      }
      let at = first + s * (QUADS + 1u);
      let stats = partials[at + QUADS];
      let factor = exp(stats.x - highest);
      sum += factor * partials[at + quad];
      weight += factor * stats.y;
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
