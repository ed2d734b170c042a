// out = x * W^T in whole numbers: a workgroup makes a tile of TILE_ROWS rows of x by TILE_COLUMNS weight rows. A stage of
// STAGE groups of both is in workgroup memory at a time; TEAMS teams of threads share its groups, and each thread of a
// team has THREAD_ROWS by THREAD_COLUMNS sums. dot4I8Packed multiplies the bytes of x, in planes, with levels exactly.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, PLANES, BY_VECTOR (the order of
// x), and the names above.
// Bindings: 0 words, 1 scales (a levels part), 2 step, 3 bytes of x (quantise_input.hpp), 4 out (an epilogue part), X_SCALES
// its scales, the others of a part that says which rows: rows_of_matrix or rows_of_experts.
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(X_SCALES) var<storage, read> x_scales: array<vec2<f32>>;

const COLUMNS = TILE_COLUMNS / N_MATS;
const TEAM_X = TILE_COLUMNS / THREAD_COLUMNS;
const TEAM_Y = TILE_ROWS / THREAD_ROWS;
const TEAM = TEAM_X * TEAM_Y;
const WORKGROUP = TEAM * TEAMS;
const ROUNDS = (N_GROUPS + STAGE - 1u) / STAGE;
const VECTORS = 2u * PLANES;  // of a group of x: bytes of its halves, the high plane first
const X_LOADS = STAGE * VECTORS * TILE_ROWS / WORKGROUP;
const X_SCALE_SLOTS = STAGE * TILE_ROWS;
const X_SCALE_LOADS = (X_SCALE_SLOTS + WORKGROUP - 1u) / WORKGROUP;
const W_LOADS = STAGE * TILE_COLUMNS / WORKGROUP;
const_assert STAGE % TEAMS == 0u;
const_assert THREAD_COLUMNS == 4u;
const_assert X_LOADS * WORKGROUP == STAGE * VECTORS * TILE_ROWS;
const_assert W_LOADS * WORKGROUP == STAGE * TILE_COLUMNS;

// Odd strides, so that neighbouring threads meet different banks.
const X_STRIDE = TILE_ROWS + 1u;
const W_STRIDE = TILE_COLUMNS + 1u;
var<workgroup> x_tile: array<vec4<u32>, STAGE * VECTORS * X_STRIDE>;  // [group, vector][row]
var<workgroup> x_scale_tile: array<vec2<f32>, X_SCALE_SLOTS>;         // [group][row]
var<workgroup> w_tile: array<vec4<u32>, STAGE * 2u * W_STRIDE>;       // [group, half][column]
var<workgroup> w_scale_tile: array<vec2<f32>, STAGE * TILE_COLUMNS>;  // [group][column]

// The first groups of what a thread brings: of the row of x at a place of the tile, and of a weight row.
fn x_source(rows: TileRows, place: u32) -> u32 {
  return x_row(min(rows.first + place, rows.last - 1u)) * N_GROUPS;
}
fn weights_source(rows: TileRows, first_column: u32, t: u32) -> u32 {
  return (rows.first_weight_row + weight_row(first_column, t)) * N_GROUPS;
}

// Those of x for every stage, where they are looked up; where they are only computed, a register each would cost more.
struct Sources {
  vectors: array<u32, X_LOADS>,
  row_scales: array<u32, X_SCALE_LOADS>,
}

fn find_sources(rows: TileRows, thread: u32) -> Sources {
  var sources = Sources();
  if (ROWS_LOOKED_UP) {
    for (var i = 0u; i < X_LOADS; i++) {
      sources.vectors[i] = x_source(rows, (i * WORKGROUP + thread) / (STAGE * VECTORS));
    }
    for (var i = 0u; i < X_SCALE_LOADS; i++) {
      sources.row_scales[i] = x_source(rows, (i * WORKGROUP + thread) / STAGE);
    }
  }
  return sources;
}

// Where a vector of a group lies in its row.
fn vector_at(group: u32, vector: u32) -> u32 {
  return select(group * VECTORS + vector, vector * N_GROUPS + group, BY_VECTOR);
}

// What a thread brings of a stage.
struct Stage {
  vectors: array<vec4<u32>, X_LOADS>,
  row_scales: array<vec2<f32>, X_SCALE_LOADS>,
  levels: array<Levels, W_LOADS>,
}

// Asks for groups [first, first + STAGE) of both operands. What lies beyond the last group is the last, scaled by 0.
fn load_stage(first: u32, rows: TileRows, sources: Sources, first_column: u32, thread: u32) -> Stage {
  var vectors = array<vec4<u32>, X_LOADS>();
  for (var i = 0u; i < X_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let vector = at % (STAGE * VECTORS);
    let group = min(first + vector / VECTORS, N_GROUPS - 1u);
    var source = sources.vectors[i];
    if (!ROWS_LOOKED_UP) {
      source = x_source(rows, at / (STAGE * VECTORS));
    }
    vectors[i] = x[source * VECTORS + vector_at(group, vector % VECTORS)];
  }
  var row_scales = array<vec2<f32>, X_SCALE_LOADS>();
  for (var i = 0u; i < X_SCALE_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let group = first + at % STAGE;
    var source = sources.row_scales[i];
    if (!ROWS_LOOKED_UP) {
      source = x_source(rows, at / STAGE);
    }
    let scale = x_scales[source + min(group, N_GROUPS - 1u)];
    row_scales[i] = select(vec2<f32>(), scale, group < N_GROUPS);
  }
  var levels = array<Levels, W_LOADS>();
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    levels[i] = load_levels(weights_source(rows, first_column, at / STAGE) + min(first + at % STAGE, N_GROUPS - 1u));
  }
  return Stage(vectors, row_scales, levels);
}

// Puts them into workgroup memory.
fn store_stage(stage: Stage, thread: u32) {
  workgroupBarrier();  // the stage before is used up
  for (var i = 0u; i < X_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    x_tile[at % (STAGE * VECTORS) * X_STRIDE + at / (STAGE * VECTORS)] = stage.vectors[i];
  }
  for (var i = 0u; i < X_SCALE_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    if (at < X_SCALE_SLOTS) {
      x_scale_tile[at % STAGE * TILE_ROWS + at / STAGE] = stage.row_scales[i];
    }
  }
  for (var i = 0u; i < W_LOADS; i++) {
    let at = i * WORKGROUP + thread;
    let slot = at % STAGE * 2u * W_STRIDE + at / STAGE;
    w_tile[slot] = stage.levels[i].a;
    w_tile[slot + W_STRIDE] = stage.levels[i].b;
    w_scale_tile[at % STAGE * TILE_COLUMNS + at / STAGE] = stage.levels[i].scale;
  }
  workgroupBarrier();  // the stage is complete
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let rows = rows_of(workgroup);
  if (rows.first >= rows.last) {
    return;
  }
  let first_column = workgroup.x * COLUMNS;
  let team = thread / TEAM;
  let own_row = thread % TEAM / TEAM_X;  // and every TEAM_Y-th after it
  let own_column = thread % TEAM_X;      // and every TEAM_X-th after it
  var sums = array<array<f32, THREAD_COLUMNS>, THREAD_ROWS>();
  let sources = find_sources(rows, thread);
  var stage = load_stage(0u, rows, sources, first_column, thread);
  for (var round = 0u; round < ROUNDS; round++) {
    store_stage(stage, thread);
    stage = load_stage((round + 1u) * STAGE, rows, sources, first_column, thread);  // under way while this one is multiplied
    for (var share = 0u; share < STAGE / TEAMS; share++) {
      let group = share * TEAMS + team;
      var a = array<vec4<u32>, THREAD_COLUMNS>();
      var b = array<vec4<u32>, THREAD_COLUMNS>();
      var scale = array<vec2<f32>, THREAD_COLUMNS>();
      for (var j = 0u; j < THREAD_COLUMNS; j++) {
        let slot = group * 2u * W_STRIDE + own_column + j * TEAM_X;
        a[j] = w_tile[slot];
        b[j] = w_tile[slot + W_STRIDE];
        scale[j] = w_scale_tile[group * TILE_COLUMNS + own_column + j * TEAM_X];
      }
      for (var i = 0u; i < THREAD_ROWS; i++) {
        if (ROWS_MAY_LACK && rows.first + i * TEAM_Y >= rows.last) {
          continue;
        }
        let row = own_row + i * TEAM_Y;
        let slot = group * VECTORS * X_STRIDE + row;
        let x_scale = x_scale_tile[group * TILE_ROWS + row];
        let high_a = x_tile[slot];
        let high_b = x_tile[slot + X_STRIDE];
        if (PLANES == 1u) {
          for (var j = 0u; j < THREAD_COLUMNS; j++) {
            let product = f32(dot16(dot16(0, a[j], high_a), b[j], high_b));
            sums[i][j] += scale[j].x * (x_scale.x * product) + scale[j].y * x_scale.y;
          }
        } else {
          let low_a = x_tile[slot + 2u * X_STRIDE];
          let low_b = x_tile[slot + 3u * X_STRIDE];
          for (var j = 0u; j < THREAD_COLUMNS; j++) {
            let high = dot16(dot16(0, a[j], high_a), b[j], high_b);
            let product = f32(dot16(dot16(256 * high, a[j], low_a), b[j], low_b));
            sums[i][j] += scale[j].x * (x_scale.x * product) + scale[j].y * x_scale.y;
          }
        }
      }
    }
  }
  for (var i = 0u; i < THREAD_ROWS; i++) {
    if (TEAMS > 1u) {
      workgroupBarrier();  // x_tile is free, for the four sums of each thread
      x_tile[thread] = bitcast<vec4<u32>>(vec4<f32>(sums[i][0], sums[i][1], sums[i][2], sums[i][3]));
      workgroupBarrier();  // the teams' sums are complete
      var total = vec4<f32>();
      for (var t = 0u; t < TEAMS; t++) {
        total += bitcast<vec4<f32>>(x_tile[t * TEAM + thread % TEAM]);
      }
      for (var j = 0u; j < THREAD_COLUMNS; j++) {
        sums[i][j] = total[j];
      }
    }
    let place = rows.first + own_row + i * TEAM_Y;
    if (team == i % TEAMS && place < rows.last) {
      let row = out_row(place);
      for (var j = 0u; j < THREAD_COLUMNS / N_MATS; j++) {
        let column = first_column + own_column + j * TEAM_X;
        if (column < N_OUT) {
          finish(row, column, sums[i][j], sums[i][(j + THREAD_COLUMNS / N_MATS) % THREAD_COLUMNS]);
        }
      }
    }
  }
}
