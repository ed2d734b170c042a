// A row of x in whole numbers, for a workgroup: each 16 elements, half a group, become v * scale with v of 16 bits, kept as
// two signed bytes. A chunk of the row, BATCHES * ROUNDS * LANES groups, has its bytes in workgroup memory at once.
// Consts: N_GROUPS, LANES, ROUNDS, BATCHES, WORKGROUP. Needs an x part, a fours part, and "folds".
const CHUNK = BATCHES * ROUNDS * LANES;  // groups
const CHUNK_QUADS = 8u * CHUNK;
const QUADS_PER_THREAD = (CHUNK_QUADS + WORKGROUP - 1u) / WORKGROUP;
const LARGEST = 32512.0;    // 127 * 256: what fits two signed bytes on both sides
const ROUNDER = 12582912.0;  // 1.5 * 2^23

// The bytes of eight elements, as [plane, the high one first][half of a group][half of that][group].
var<workgroup> x_bytes: array<vec2<u32>, 8u * CHUNK>;
var<workgroup> x_scales: array<vec2<f32>, 2u * CHUNK>;  // as halves [half][group]: scale, sum of elements

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

// Asks for a thread's quads of a chunk: quad q is thread q % WORKGROUP's.
fn ask_for_x(first_group: u32, thread: u32) -> array<Quad, QUADS_PER_THREAD> {
  var quads = array<Quad, QUADS_PER_THREAD>();
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    quads[i] = load_quad(min(8u * first_group + i * WORKGROUP + thread, 8u * N_GROUPS - 1u));
  }
  return quads;
}

// Makes the bytes of these quads; groups beyond the last multiply to nothing. Gives the sum of the thread's squares before
// the norm. Four threads have half a group, whose bytes two of them join, because no two threads may write one vector: the
// even ones have the high bytes, the odd ones the low.
fn make_bytes(quads: array<Quad, QUADS_PER_THREAD>, first_group: u32, thread: u32) -> f32 {
  var squares = 0.0;
  for (var i = 0u; i < QUADS_PER_THREAD; i++) {
    let q = i * WORKGROUP + thread;
    let group = q / 8u;
    let half = q % 8u / 4u;
    // A quad beyond the chunk is the next one's.
    let is_there = q < CHUNK_QUADS && first_group + group < N_GROUPS;
    squares += select(0.0, dot(quads[i].x, quads[i].x), is_there);
    let x = select(vec4<f32>(), weighed(quads[i]), is_there);
    let top = fours_max(largest(abs(x)), thread);
    // Of the bits that hold a number near ROUNDER the last are the whole number: rounded so, for conversions are slow.
    let v = bitcast<vec4<i32>>(x * select(0.0, LARGEST / top, top > 1e-30) + ROUNDER) - bitcast<i32>(ROUNDER);
    let high = (v + 128) >> vec4<u32>(8u);
    // Infinity and NaN do not survive as whole numbers, so they go into the sum.
    let raw_sum = total(x);
    let finite = (bitcast<u32>(raw_sum) & 0x7F800000u) != 0x7F800000u;
    let sum = fours_sum(select(raw_sum, f32((v.x + v.y) + (v.z + v.w)), finite), thread);
    let joined_bytes = twos_join(pack4xI8(high), pack4xI8(v), thread);  // the last eight bits of each
    if (q < CHUNK_QUADS) {
      let plane = q % 2u;
      x_bytes[((2u * plane + half) * 2u + q % 4u / 2u) * CHUNK + group] = joined_bytes;
      if (q % 4u == 0u) {
        x_scales[half * CHUNK + group] = vec2<f32>(top / LARGEST, top / LARGEST * sum);
      }
    }
  }
  return squares;
}

// Half a group in one plane: 2 plane + half.
fn half_bytes(plane_half: u32, group: u32) -> vec4<u32> {
  return vec4<u32>(x_bytes[2u * plane_half * CHUNK + group], x_bytes[(2u * plane_half + 1u) * CHUNK + group]);
}

fn group_of_x(group: u32) -> GroupX {
  let scale_a = x_scales[group];
  let scale_b = x_scales[CHUNK + group];
  return GroupX(half_bytes(0u, group), half_bytes(1u, group), half_bytes(2u, group), half_bytes(3u, group),
                scale_a.x, scale_b.x, scale_a.y + scale_b.y);
}
