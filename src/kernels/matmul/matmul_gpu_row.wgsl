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
const CHUNK_QUADS = 8u * CHUNK;
const QUADS_PER_THREAD = (CHUNK_QUADS + WORKGROUP - 1u) / WORKGROUP;
const LARGEST = 32512.0;  // 127 * 256: what fits two signed bytes on both sides
const_assert WORKGROUP % LANES == 0u;
const_assert CHUNK_ROUNDS % BATCH == 0u;

// The bytes of eight elements, as [plane, the high one first][half of a group][half of that][g].
var<workgroup> x_bytes: array<vec2<u32>, 8u * CHUNK>;
var<workgroup> x_scales: array<vec2<f32>, 2u * CHUNK>;  // as halves [half][g]: scale, sum of elements
var<workgroup> slots: array<vec2<f32>, WORKGROUP>;   // partial sums of the two rows; before, what a fours part needs
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

// The bytes of groups first_group to first_group + CHUNK; those beyond the last group multiply to nothing. Gives the sum
// of the thread's squares before the norm. Quad q of a chunk is thread q % WORKGROUP's; four threads have half a group, whose
// bytes two of them join, because no two threads may write one vector: the even ones have the high bytes, the odd ones the low.
fn make_chunk(first_group: u32, thread: u32) -> f32 {
  var quads = array<vec4<f32>, QUADS_PER_THREAD>();
  var squares = 0.0;
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    let q = i * WORKGROUP + thread;
    if (first_group + q / 8u < N_GROUPS) {
      let at = x_first_quad() + 8u * first_group + q;
      let raw = raw_quad(at);
      // A quad beyond the chunk is the next one's.
      squares += select(0.0, dot(raw, raw), q < CHUNK_QUADS);
      quads[i] = weighed_quad(at, raw);
    }
  }
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    let q = i * WORKGROUP + thread;
    let group = q / 8u;
    let half = q % 8u / 4u;
    let top = fours_max(largest(abs(quads[i])), thread);
    let v = vec4<i32>(round(quads[i] * select(0.0, LARGEST / top, top > 1e-30)));
    let high = (v + 128) >> vec4<u32>(8u);
    // Infinity and NaN do not survive as whole numbers, so they go into the sum.
    let raw_sum = total(quads[i]);
    let finite = (bitcast<u32>(raw_sum) & 0x7F800000u) != 0x7F800000u;
    let sum = fours_sum(select(raw_sum, f32((v.x + v.y) + (v.z + v.w)), finite), thread);
    let joined_bytes = twos_join(pack4xI8(high), pack4xI8(v - (high << vec4<u32>(8u))), thread);
    if (q < CHUNK_QUADS) {
      let plane = q % 2u;
      x_bytes[((2u * plane + half) * 2u + q % 4u / 2u) * CHUNK + group] = joined_bytes;
      if (q % 4u == 0u) {
        x_scales[half * CHUNK + group] = vec2<f32>(top / LARGEST, top / LARGEST * sum);
      }
    }
  }
  workgroupBarrier();  // the chunk's bytes are complete
  return squares;
}

// Half a group in one plane: 2 plane + half.
fn half_bytes(plane_half: u32, g: u32) -> vec4<u32> {
  return vec4<u32>(x_bytes[2u * plane_half * CHUNK + g], x_bytes[(2u * plane_half + 1u) * CHUNK + g]);
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
  for (var batch = 0u; batch < CHUNK_ROUNDS / BATCH; batch++) {
    let round = batch * BATCH;
    for (var i = 0u; i < BATCH; i++) {
      let slot = (round + i) * LANES + lane;
      let scale_a = x_scales[slot];
      let scale_b = x_scales[CHUNK + slot];
      let x = GroupX(half_bytes(0u, slot), half_bytes(1u, slot), half_bytes(2u, slot), half_bytes(3u, slot),
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
  for (var next = 1u; next < (ROUNDS + CHUNK_ROUNDS - 1u) / CHUNK_ROUNDS; next++) {
    workgroupBarrier();  // all have used the chunk before
    chunk = sum_chunk(next * CHUNK_ROUNDS, row_a * N_GROUPS, row_b * N_GROUPS, thread);
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
