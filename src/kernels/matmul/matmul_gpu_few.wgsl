// out = x * W^T in whole numbers for few rows of x: LANES threads, a team, make TILE_ROWS rows of x by WEIGHT_ROWS weight
// rows. Each has every LANES-th group of the weights, in registers, and meets it with the bytes of all its rows of x,
// which come from the cache: no thread waits for another before the sums are added up.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, PLANES, X_SCALES, TILE_ROWS, WEIGHT_ROWS, TEAMS.
// Bindings: 0 words, 1 scales (a levels part), 2 step, 3 bytes and X_SCALES scales of x (quantise_input.hpp, by vector), 4 out
// (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(X_SCALES) var<storage, read> x_scales: array<vec2<f32>>;

const LANES = 32u;
const WORKGROUP = TEAMS * LANES;
const COLUMNS = WEIGHT_ROWS / N_MATS;
const VECTORS = 2u * PLANES;
const VALUES = TILE_ROWS * WEIGHT_ROWS;
const OUTPUTS = TILE_ROWS * COLUMNS;

var<workgroup> slots: array<f32, TEAMS * VALUES * (LANES + 1u)>;  // [team][row, weight row][lane]

fn sum_of(first_slot: u32) -> f32 {
  var sum = 0.0;
  for (var lane = 0u; lane < LANES; lane++) {
    sum += slots[first_slot + lane];
  }
  return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let lane = thread % LANES;
  let team = thread / LANES;
  let first_row = workgroup.y * TILE_ROWS;
  let last_row = step_state.n_rows - 1u;
  let first_column = (workgroup.x * TEAMS + team) * COLUMNS;
  var sums = array<array<f32, WEIGHT_ROWS>, TILE_ROWS>();
  for (var g = lane; g < N_GROUPS; g += LANES) {
    var levels = array<Levels, WEIGHT_ROWS>();
    for (var j = 0u; j < WEIGHT_ROWS; j++) {
      levels[j] = load_levels(weight_row(first_column, j) * N_GROUPS + g);
    }
    for (var i = 0u; i < TILE_ROWS; i++) {
      let row = min(first_row + i, last_row);
      let at = row * VECTORS * N_GROUPS + g;
      let scale = x_scales[row * N_GROUPS + g];
      let high_a = x[at];
      let high_b = x[at + N_GROUPS];
      if (PLANES == 1u) {
        for (var j = 0u; j < WEIGHT_ROWS; j++) {
          let product = f32(dot16(dot16(0, levels[j].a, high_a), levels[j].b, high_b));
          sums[i][j] += levels[j].scale.x * (scale.x * product) + levels[j].scale.y * scale.y;
        }
      } else {
        let low_a = x[at + 2u * N_GROUPS];
        let low_b = x[at + 3u * N_GROUPS];
        for (var j = 0u; j < WEIGHT_ROWS; j++) {
          let high = dot16(dot16(0, levels[j].a, high_a), levels[j].b, high_b);
          let product = f32(dot16(dot16(256 * high, levels[j].a, low_a), levels[j].b, low_b));
          sums[i][j] += levels[j].scale.x * (scale.x * product) + levels[j].scale.y * scale.y;
        }
      }
    }
  }
  let team_slot = team * VALUES * (LANES + 1u);
  for (var i = 0u; i < TILE_ROWS; i++) {
    for (var j = 0u; j < WEIGHT_ROWS; j++) {
      slots[team_slot + (i * WEIGHT_ROWS + j) * (LANES + 1u) + lane] = sums[i][j];
    }
  }
  workgroupBarrier();  // every lane's sums are written
  for (var o = lane; o < OUTPUTS; o += LANES) {
    let row = first_row + o / COLUMNS;
    let column = first_column + o % COLUMNS;
    if (row <= last_row && column < N_OUT) {
      let slot = team_slot + (o / COLUMNS * WEIGHT_ROWS + o % COLUMNS) * (LANES + 1u);
      let second = sum_of(slot + (N_MATS - 1u) * COLUMNS * (LANES + 1u));
      finish(row, column, sum_of(slot), second);
    }
  }
}
