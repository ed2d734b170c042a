// out = W x for one row of x, in whole numbers: dot4I8Packed sums levels times bytes of x exactly (a row part). A workgroup
// makes x's bytes once for all its weight rows ("row_bytes"). LANES threads are a team, which takes two weight rows a step,
// each thread every LANES-th group. Memory is asked for early: x, then the weights of the first step, then the bytes are
// made; and a step's weights as soon as those of the one before are used up.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, LANES, STEPS, ROUNDS (groups of a row that a
// thread asks for together), BATCHES (of those in a chunk), WORKGROUP.
// Bindings: 0 words, 1 scales (a row part), 2 step, 3 x (an x part; 5 there, too), 4 out (an epilogue and an out_before part).
@group(0) @binding(2) var<storage, read> step_state: Step;

const ROWS = 2u;
const COLUMNS = ROWS / N_MATS;  // of a team and step
const CHUNKS = (N_GROUPS + CHUNK - 1u) / CHUNK;
const_assert WORKGROUP % LANES == 0u;
const_assert LANES % WIDEST == 0u;
const_assert COLUMNS * STEPS <= LANES;

// Partial sums [step][row][thread], and those of x's squares.
var<workgroup> slots: array<f32, STEPS * ROWS * WORKGROUP>;
var<workgroup> square_slots: array<f32, WORKGROUP>;

// A batch of a thread's groups of a weight row.
fn ask_for_weights(row: u32, first_group: u32) -> array<GroupW, ROUNDS> {
  var groups = array<GroupW, ROUNDS>();
  for (var r = 0u; r < ROUNDS; r++) {
    groups[r] = load_group(row * N_GROUPS + min(first_group + r * LANES, N_GROUPS - 1u));
  }
  return groups;
}

// The row's sum of squares. Here and below, the usual width has a loop of its own, whose rounds a compiler knows, so that all
// reads are under way at once.
fn sum_of_squares(width: u32) -> f32 {
  var sum = 0.0;
  if (width == WIDEST) {
    for (var i = 0u; i < WORKGROUP; i += WIDEST) {
      sum += square_slots[i];
    }
  } else {
    for (var i = 0u; i < WORKGROUP; i += width) {
      sum += square_slots[i];
    }
  }
  return sum;
}

// A team's sums of two rows, whose slots begin at `a` and `b`.
fn sums_of_team(a: u32, b: u32, width: u32) -> vec2<f32> {
  var sums = vec2<f32>();
  if (width == WIDEST) {
    for (var i = 0u; i < LANES; i += WIDEST) {
      sums += vec2<f32>(slots[a + i], slots[b + i]);
    }
  } else {
    for (var i = 0u; i < LANES; i += width) {
      sums += vec2<f32>(slots[a + i], slots[b + i]);
    }
  }
  return sums;
}

// Adds a chunk's part to the sums of all steps, `width` threads together, and its squares of x to the thread's `squares`;
// after the last chunk gives the whole row's.
fn add_chunk(chunk: u32, squares: f32, first_column: u32, width: u32, thread: u32) -> f32 {
  let lane = thread % LANES;
  let first_group = chunk * CHUNK;
  let quads = ask_for_x(first_group, thread);
  var a = ask_for_weights(weight_row(first_column, 0u), first_group + lane);
  var b = ask_for_weights(weight_row(first_column, 1u), first_group + lane);
  var row_squares = squares + make_bytes(quads, first_group, thread);
  let ends_row = NORMED && chunk + 1u == CHUNKS;
  if (ends_row) {
    let partial = partial_sum(vec2<f32>(row_squares, 0.0), width);
    if (begins_team(thread, width)) {
      square_slots[thread] = partial.x;
    }
  }
  workgroupBarrier();  // the chunk's bytes are complete
  if (ends_row) {
    row_squares = sum_of_squares(width);  // while weights are under way
  }
  var sums = vec2<f32>();
  for (var i = 0u; i < STEPS * BATCHES; i++) {
    let step = i / BATCHES;
    let batch = i % BATCHES;
    for (var r = 0u; r < ROUNDS; r++) {
      let x = group_of_x((batch * ROUNDS + r) * LANES + lane);
      sums += vec2<f32>(group_product(a[r], x), group_product(b[r], x));
    }
    if (i + 1u < STEPS * BATCHES) {
      let column = first_column + (i + 1u) / BATCHES * COLUMNS;
      let group = first_group + (i + 1u) % BATCHES * (ROUNDS * LANES) + lane;
      a = ask_for_weights(weight_row(column, 0u), group);
      b = ask_for_weights(weight_row(column, 1u), group);
    }
    if (batch + 1u == BATCHES) {
      let partial = partial_sum(sums, width);
      if (begins_team(thread, width)) {
        let slot = step * ROWS * WORKGROUP + thread;
        slots[slot] = partial.x + select(0.0, slots[slot], chunk > 0u);
        slots[slot + WORKGROUP] = partial.y + select(0.0, slots[slot + WORKGROUP], chunk > 0u);
      }
      sums = vec2<f32>();
    }
  }
  return row_squares;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let lane = thread % LANES;
  let team = ((workgroup.z * n_workgroups.x + workgroup.x) * WORKGROUP + thread) / LANES;
  let first_column = team * COLUMNS * STEPS;
  let width = sum_width();
  // The first chunk, mostly the only one, outside the loop: in it, a driver kept the weights in memory.
  var squares = add_chunk(0u, 0.0, first_column, width, thread);
  for (var chunk = 1u; chunk < CHUNKS; chunk++) {
    workgroupBarrier();  // all have used the chunk before
    squares = add_chunk(chunk, squares, first_column, width, thread);
  }
  // Asked for before the wait.
  let before = out_before(0u, min(first_column + min(lane, COLUMNS * STEPS - 1u), N_OUT - 1u));
  workgroupBarrier();  // every partial sum is written
  if (lane >= COLUMNS * STEPS || first_column + lane >= N_OUT) {
    return;
  }
  // A column's row, and for a pair of matrices the other's.
  let slot = (lane / COLUMNS * ROWS + lane % COLUMNS) * WORKGROUP + thread - lane;
  let sum = sums_of_team(slot, slot + (ROWS - COLUMNS) * WORKGROUP, width);
  let scale = norm_scale(squares);
  finish_after(before, 0u, first_column + lane, scale * sum.x, scale * sum.y);
}
