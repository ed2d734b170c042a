// out = W x for one row of x, in whole numbers: each group of 32 elements of x becomes v * scale with v of 16 bits, kept
// as two signed bytes, and dot4I8Packed sums levels times bytes exactly (a row part). A workgroup makes x's bytes once
// for all its weight rows; LANES threads share four weight rows, each with every LANES-th group. Weights are asked for
// one round ahead, the first before x's bytes are made, so that memory is never idle.
// Consts: N_GROUPS (of a weight row), N_OUT (columns made), N_MATS, PAIR_OFFSET, LANES, CHUNK_ROUNDS (whose bytes of x are
// kept at once), WORKGROUP.
// Bindings: 0 words, 1 scales (a row part), 2 step, 3 x (an x part; 5 there, too), 4 out (an epilogue part).
@group(0) @binding(2) var<storage, read> step_state: Step;

const ROWS = 4u;
const SETS = WORKGROUP / LANES;
const COLUMNS = ROWS / N_MATS;
const ROUNDS = (N_GROUPS + LANES - 1u) / LANES;
const CHUNK = CHUNK_ROUNDS * LANES;  // groups
const CHUNK_QUADS = 8u * CHUNK;
const QUADS_PER_THREAD = (CHUNK_QUADS + WORKGROUP - 1u) / WORKGROUP;
const LARGEST = 32512.0;  // 127 * 256: what fits two signed bytes on both sides
const_assert WORKGROUP % LANES == 0u;
const_assert LANES >= ROWS;

// Of group g, as planes [plane][g]: the bytes of its elements 0 to 15 and 16 to 31, high ones, then low ones. In the end
// the partial sums of every thread.
var<workgroup> x_bytes: array<vec4<u32>, max(4u * CHUNK, WORKGROUP)>;
var<workgroup> x_scales: array<f32, CHUNK>;
// Of the eight quads of group g, [half][g]: their largest magnitudes, and the sums of their whole numbers.
var<workgroup> x_tops: array<vec4<f32>, 2u * CHUNK>;
var<workgroup> x_sums: array<vec4<f32>, 2u * CHUNK>;
var<workgroup> square_slots: array<f32, WORKGROUP>;

// What a row part multiplies a group of weights by.
struct GroupX {
  high_a: vec4<u32>,
  high_b: vec4<u32>,
  low_a: vec4<u32>,
  low_b: vec4<u32>,
  scale: f32,
  sum: f32,
}

fn dot16(levels: vec4<u32>, bytes: vec4<u32>) -> i32 {
  return (dot4I8Packed(levels.x, bytes.x) + dot4I8Packed(levels.y, bytes.y)) +
         (dot4I8Packed(levels.z, bytes.z) + dot4I8Packed(levels.w, bytes.w));
}

fn largest(v: vec4<f32>) -> f32 {
  return max(max(v.x, v.y), max(v.z, v.w));
}

// The bytes of groups first_group to first_group + CHUNK; those beyond the last group multiply to nothing. Gives the sum
// of the thread's squares before the norm. Quad q of a chunk is thread q % WORKGROUP's.
fn make_chunk(first_group: u32, thread: u32) -> f32 {
  var quads = array<vec4<f32>, QUADS_PER_THREAD>();
  var squares = 0.0;
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    let q = i * WORKGROUP + thread;
    if (q < CHUNK_QUADS && first_group + q / 8u < N_GROUPS) {
      let at = x_first_quad() + 8u * first_group + q;
      let raw = raw_quad(at);
      squares += dot(raw, raw);
      quads[i] = weighed_quad(at, raw);
    }
    if (q < CHUNK_QUADS) {
      x_tops[q % 8u / 4u * CHUNK + q / 8u][q % 4u] = largest(abs(quads[i]));
    }
  }
  workgroupBarrier();  // the largest of every quad is known
  // Infinity and NaN in x do not survive as integers, so they go into the scale.
  let finite = (bitcast<u32>(squares) & 0x7F800000u) != 0x7F800000u;
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    let q = i * WORKGROUP + thread;
    if (q < CHUNK_QUADS) {
      let group = q / 8u;
      let half = q % 8u / 4u;
      let top = largest(max(x_tops[group], x_tops[CHUNK + group]));
      let v = vec4<i32>(round(quads[i] * select(0.0, LARGEST / top, top > 1e-30)));
      let high = (v + 128) >> vec4<u32>(8u);
      x_bytes[half * CHUNK + group][q % 4u] = pack4xI8(high);
      x_bytes[(2u + half) * CHUNK + group][q % 4u] = pack4xI8(v - (high << vec4<u32>(8u)));
      x_sums[half * CHUNK + group][q % 4u] = select(squares, f32((v.x + v.y) + (v.z + v.w)), finite);
      if (q % 8u == 0u) {
        x_scales[group] = top / LARGEST;
      }
    }
  }
  workgroupBarrier();  // the chunk's bytes are complete
  return squares;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) n_workgroups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let lane = thread % LANES;
  let first = ((workgroup.z * n_workgroups.x + workgroup.x) * SETS + thread / LANES) * COLUMNS;
  // Rows beyond the last are computed as the last and not stored.
  var rows = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(N_OUT - 1u));
  if (N_MATS == 2u) {
    rows = vec4<u32>(rows.xy, rows.xy + PAIR_OFFSET);
  }
  let first_groups = rows * N_GROUPS;
  let g0 = min(lane, N_GROUPS - 1u);
  var next_a = load_group(first_groups.x + g0);
  var next_b = load_group(first_groups.y + g0);
  var next_c = load_group(first_groups.z + g0);
  var next_d = load_group(first_groups.w + g0);
  var sums = vec4<f32>();
  var squares = 0.0;
  for (var round = 0u; round < ROUNDS; round++) {
    if (round % CHUNK_ROUNDS == 0u) {
      if (round > 0u) {
        workgroupBarrier();  // all have used the chunk before
      }
      squares += make_chunk(round * LANES, thread);
    }
    let slot = round % CHUNK_ROUNDS * LANES + lane;
    let scale = x_scales[slot];
    let quad_sums = x_sums[slot] + x_sums[CHUNK + slot];
    let x = GroupX(x_bytes[slot], x_bytes[CHUNK + slot], x_bytes[2u * CHUNK + slot], x_bytes[3u * CHUNK + slot], scale,
                   scale * ((quad_sums.x + quad_sums.y) + (quad_sums.z + quad_sums.w)));
    let a = next_a;
    let b = next_b;
    let c = next_c;
    let d = next_d;
    let g = min((round + 1u) * LANES + lane, N_GROUPS - 1u);
    next_a = load_group(first_groups.x + g);
    next_b = load_group(first_groups.y + g);
    next_c = load_group(first_groups.z + g);
    next_d = load_group(first_groups.w + g);
    sums += vec4<f32>(group_product(a, x), group_product(b, x), group_product(c, x), group_product(d, x));
  }

  // A set's sums from partial ones that stand `width` threads apart.
  let width = sum_width();
  let partial = partial_sum(sums, width);
  var partial_squares = 0.0;
  if (NORMED) {
    partial_squares = partial_sum(vec4<f32>(squares), width).x;
  }
  workgroupBarrier();  // all have used x's bytes
  if (thread % width == 0u) {
    x_bytes[thread] = bitcast<vec4<u32>>(partial);
    square_slots[thread] = partial_squares;
  }
  workgroupBarrier();  // every partial sum is written
  if (lane >= COLUMNS || first + lane >= N_OUT) {
    return;
  }
  var total = vec4<f32>();
  for (var i = 0u; i < LANES; i += width) {
    total += bitcast<vec4<f32>>(x_bytes[thread - lane + i]);
  }
  var total_squares = 0.0;
  if (NORMED) {
    for (var i = 0u; i < WORKGROUP; i += width) {
      total_squares += square_slots[i];
    }
  }
  let scale = norm_scale(total_squares);
  finish(0u, first + lane, scale * total[lane], scale * total[(lane + COLUMNS) % ROWS]);
}
