// Products of one group of x with a weight row in the q4 layout, for GPUs: no conversion and hardly a shift.
// A nibble masked in place under the exponent of 2^23 is the float 2^23 + q * 2^place exactly; 2^23 is taken off, and x
// is scaled by 2^-place (exact). Places up to 19 fit the mantissa, so that the upper half of a word is shifted once.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const MAGIC = vec4<u32>(0x4B000000u);
const LOW_MASK = vec4<u32>(0x0000000Fu, 0x00000F00u, 0x000F0000u, 0x0000F000u);
const LOW_SCALE = vec4<f32>(1.0, 0x1p-8, 0x1p-16, 0x1p-12);
const HIGH_MASK = vec4<u32>(0x000000F0u, 0x0000F000u, 0x00000F00u, 0x000F0000u);
const HIGH_SCALE = vec4<f32>(0x1p-4, 0x1p-12, 0x1p-8, 0x1p-16);

fn word_product(w: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
  let upper = w >> 12u;
  let q_low = bitcast<vec4<f32>>((vec4<u32>(w, w, w, upper) & LOW_MASK) | MAGIC) - 0x1p23;
  let q_high = bitcast<vec4<f32>>((vec4<u32>(w, w, upper, upper) & HIGH_MASK) | MAGIC) - 0x1p23;
  return dot(q_low, low) + dot(q_high, high);
}

// The 32 elements of x that a group multiplies, scaled: quads 0..3 meet low nibbles, 4..7 high ones; `sum` is the sum
// before. Fields of their own, because drivers keep arrays in memory.
struct GroupX {
  low0: vec4<f32>,
  low1: vec4<f32>,
  low2: vec4<f32>,
  low3: vec4<f32>,
  high0: vec4<f32>,
  high1: vec4<f32>,
  high2: vec4<f32>,
  high3: vec4<f32>,
  sum: f32,
}

fn prepare_x(q: u32) -> GroupX {
  let a = x_quad(q);
  let b = x_quad(q + 1u);
  let c = x_quad(q + 2u);
  let d = x_quad(q + 3u);
  let e = x_quad(q + 4u);
  let f = x_quad(q + 5u);
  let g = x_quad(q + 6u);
  let h = x_quad(q + 7u);
  let total = ((a + b) + (c + d)) + ((e + f) + (g + h));
  return GroupX(a * LOW_SCALE, b * LOW_SCALE, c * LOW_SCALE, d * LOW_SCALE, e * HIGH_SCALE, f * HIGH_SCALE,
                g * HIGH_SCALE, h * HIGH_SCALE, (total.x + total.y) + (total.z + total.w));
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let w = words[g];
  let scale = unpack2x16float(scales[g]);
  let product = (word_product(w.x, x.low0, x.high0) + word_product(w.y, x.low1, x.high1)) +
                (word_product(w.z, x.low2, x.high2) + word_product(w.w, x.low3, x.high3));
  return scale.x * product + scale.y * x.sum;
}
