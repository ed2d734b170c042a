// out = W x for one row of x, in whole numbers: each 16 elements of x, half a group, become v * scale with v of 16 bits,
// kept as two signed bytes, and dot4I8Packed sums levels times bytes exactly (a row part). A workgroup makes x's bytes
// once for all its weight rows; LANES threads share two weight rows, each with every LANES-th group: a round. The groups of
// BATCH rounds are asked for together, the first before x's bytes are made, so that memory is never idle.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, CHUNK_ROUNDS (whose bytes of x are kept
// at once, a multiple of BATCH), BATCH, WORKGROUP.
// Bindings: 0 words, 1 scales (a row part), 2 step, 3 x (an x part; 5 there, too), 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;

const LANES = 32u;
const ROWS = 2u;
const COLUMNS = ROWS / N_MATS;
const ROUNDS = (N_GROUPS + LANES - 1u) / LANES;
const CHUNK = CHUNK_ROUNDS * LANES;  // groups
const HALVES = 2u * CHUNK;           // of groups
const HALVES_PER_THREAD = (HALVES + WORKGROUP - 1u) / WORKGROUP;
const LARGEST = 32512.0;  // 127 * 256: what fits two signed bytes on both sides
const_assert WORKGROUP % LANES == 0u;
const_assert CHUNK_ROUNDS % BATCH == 0u;

// Of group g, as planes [plane][g]: the bytes of its elements 0 to 15 and 16 to 31, high ones, then low ones.
var<workgroup> x_bytes: array<vec4<u32>, 4u * CHUNK>;
var<workgroup> x_scales: array<vec2<f32>, HALVES>;   // as halves [half][g]: scale, sum of elements
var<workgroup> slots: array<vec2<f32>, WORKGROUP>;   // partial sums of the two rows
var<workgroup> square_slots: array<f32, WORKGROUP>;  // partial sums of x's squares

// What a row part multiplies a group of weights by.
struct GroupX {
  high_a: vec4<u32>,
  high_b: vec4<u32>,
  low_a: vec4<u32>,
  low_b: vec4<u32>,
  scale_a: f32,
  scale_b: f32,
  sum: f32,
}

fn dot16(levels: vec4<u32>, bytes: vec4<u32>) -> i32 {
  return (dot4I8Packed(levels.x, bytes.x) + dot4I8Packed(levels.y, bytes.y)) +
         (dot4I8Packed(levels.z, bytes.z) + dot4I8Packed(levels.w, bytes.w));
}

fn largest(v: vec4<f32>) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}
fn total(v: vec4<f32>) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}

// The bytes of groups first_group to first_group + CHUNK; those beyond the last group multiply to nothing. Gives the sum
// of the thread's squares before the norm. A thread makes whole halves, because no other may write to its vectors.
fn make_chunk(first_group: u32, thread: u32) -> f32 {
  var squares = 0.0;
  for (var i = 0u; i < HALVES_PER_THREAD; i++) {
    let h = i * WORKGROUP + thread;
    if (h < HALVES) {
      squares += make_half(first_group, h);
    }
  }
  workgroupBarrier();  // the chunk's bytes are complete
  return squares;
}

// Half h of the chunk: its 16 elements.
fn make_half(first_group: u32, h: u32) -> f32 {
  let slot = h % 2u * CHUNK + h / 2u;
  if (first_group + h / 2u >= N_GROUPS) {
    store_half(slot, vec4<u32>(), vec4<u32>(), vec2<f32>());
    return 0.0;
  }
  let at = x_first_quad() + 8u * first_group + 4u * h;
  let r0 = raw_quad(at);
  let r1 = raw_quad(at + 1u);
  let r2 = raw_quad(at + 2u);
  let r3 = raw_quad(at + 3u);
  let q0 = weighed_quad(at, r0);
  let q1 = weighed_quad(at + 1u, r1);
  let q2 = weighed_quad(at + 2u, r2);
  let q3 = weighed_quad(at + 3u, r3);
  let top = largest(max(max(abs(q0), abs(q1)), max(abs(q2), abs(q3))));
  let factor = select(0.0, LARGEST / top, top > 1e-30);
  let v0 = vec4<i32>(round(q0 * factor));
  let v1 = vec4<i32>(round(q1 * factor));
  let v2 = vec4<i32>(round(q2 * factor));
  let v3 = vec4<i32>(round(q3 * factor));
  let high = vec4<u32>(high_bytes(v0), high_bytes(v1), high_bytes(v2), high_bytes(v3));
  let low = vec4<u32>(low_bytes(v0), low_bytes(v1), low_bytes(v2), low_bytes(v3));
  // Infinity and NaN do not survive as whole numbers, so they go into the sum.
  let raw_sum = (total(q0) + total(q1)) + (total(q2) + total(q3));
  let finite = (bitcast<u32>(raw_sum) & 0x7F800000u) != 0x7F800000u;
  let whole = (v0 + v1) + (v2 + v3);
  let sum = select(raw_sum, f32((whole.x + whole.y) + (whole.z + whole.w)), finite);
  store_half(slot, high, low, vec2<f32>(top / LARGEST, top / LARGEST * sum));
  return (dot(r0, r0) + dot(r1, r1)) + (dot(r2, r2) + dot(r3, r3));
}

fn store_half(slot: u32, high: vec4<u32>, low: vec4<u32>, scale: vec2<f32>) {
  x_bytes[slot] = high;
  x_bytes[HALVES + slot] = low;
  x_scales[slot] = scale;
}

// v = 256 high + low, both signed bytes.
fn high_of(v: vec4<i32>) -> vec4<i32> {
  return (v + 128) >> vec4<u32>(8u);
}
fn high_bytes(v: vec4<i32>) -> u32 {
  return pack4xI8(high_of(v));
}
fn low_bytes(v: vec4<i32>) -> u32 {
  return pack4xI8(v - (high_of(v) << vec4<u32>(8u)));
}

// A thread's sums over a chunk: of its two weight rows, and of its squares of x.
struct ChunkSums {
  rows: vec2<f32>,
  squares: f32,
}

fn sum_chunk(first_round: u32, first_a: u32, first_b: u32, thread: u32) -> ChunkSums {
  let lane = thread % LANES;
  var batch_a = array<GroupW, BATCH>();
  var batch_b = array<GroupW, BATCH>();
  for (var i = 0u; i < BATCH; i++) {
    let g = min((first_round + i) * LANES + lane, N_GROUPS - 1u);
    batch_a[i] = load_group(first_a + g);
    batch_b[i] = load_group(first_b + g);
  }
  let squares = make_chunk(first_round * LANES, thread);
  var sums = vec2<f32>();
  for (var round = 0u; round < CHUNK_ROUNDS; round += BATCH) {
    for (var i = 0u; i < BATCH; i++) {
      let slot = (round + i) * LANES + lane;
      let scale_a = x_scales[slot];
      let scale_b = x_scales[CHUNK + slot];
      let x = GroupX(x_bytes[slot], x_bytes[CHUNK + slot], x_bytes[2u * CHUNK + slot], x_bytes[3u * CHUNK + slot],
                     scale_a.x, scale_b.x, scale_a.y + scale_b.y);
      sums += vec2<f32>(group_product(batch_a[i], x), group_product(batch_b[i], x));
    }
    for (var i = 0u; i < BATCH; i++) {
      let g = min((first_round + round + BATCH + i) * LANES + lane, N_GROUPS - 1u);
      batch_a[i] = load_group(first_a + g);
      batch_b[i] = load_group(first_b + g);
    }
  }
  return ChunkSums(sums, squares);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let lane = thread % LANES;
  let first = ((workgroup.z * n_workgroups.x + workgroup.x) * WORKGROUP + thread) / LANES * COLUMNS;
  // Rows beyond the last are computed as the last and not stored.
  let row_a = min(first, N_OUT - 1u);
  let row_b = select(min(first + 1u, N_OUT - 1u), row_a + PAIR_OFFSET, N_MATS == 2u);
  // The first chunk, mostly the only one, outside the loop: in it, a driver kept the batches in memory.
  var chunk = sum_chunk(0u, row_a * N_GROUPS, row_b * N_GROUPS, thread);
  var sums = chunk.rows;
  var squares = chunk.squares;
  for (var round = CHUNK_ROUNDS; round < ROUNDS; round += CHUNK_ROUNDS) {
    workgroupBarrier();  // all have used the chunk before
    chunk = sum_chunk(round, row_a * N_GROUPS, row_b * N_GROUPS, thread);
    sums += chunk.rows;
    squares += chunk.squares;
  }

  // Sums over the lanes from partial ones that stand `width` threads apart.
  let width = sum_width();
  let partial = partial_sum(vec4<f32>(sums, squares, 0.0), width);
  if (thread % width == 0u) {
    slots[thread] = partial.xy;
    square_slots[thread] = partial.z;
  }
  workgroupBarrier();  // every partial sum is written
  if (lane >= COLUMNS || first + lane >= N_OUT) {
    return;
  }
  var sum = vec2<f32>();
  for (var i = 0u; i < LANES; i += width) {
    sum += slots[thread - lane + i];
  }
  var total_squares = 0.0;
  if (NORMED) {
    for (var i = 0u; i < WORKGROUP; i += width) {
      total_squares += square_slots[i];
    }
  }
  let scale = norm_scale(total_squares);
  finish(0u, first + lane, scale * sum[lane], scale * sum[(lane + COLUMNS) % ROWS]);
}
