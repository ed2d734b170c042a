// Products of one group of x with a weight row in the q4 layout, for GPUs: no conversion and hardly a shift.
// A nibble masked in place under the exponent of 2^23 is the float 2^23 + q * 2^place exactly; 2^23 is taken off, and x
// is scaled by 2^-place (exact). Places up to 19 fit the mantissa, so that the upper half of a word is shifted once.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const MAGIC = vec4<u32>(0x4B000000u);
const LOW_MASK = vec4<u32>(0x0000000Fu, 0x00000F00u, 0x000F0000u, 0x0000F000u);
const X_LOW_SCALE = vec4<f32>(1.0, 0x1p-8, 0x1p-16, 0x1p-12);
const HIGH_MASK = vec4<u32>(0x000000F0u, 0x0000F000u, 0x00000F00u, 0x000F0000u);
const X_HIGH_SCALE = vec4<f32>(0x1p-4, 0x1p-12, 0x1p-8, 0x1p-16);

fn word_product(w: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
  let upper = w >> 12u;
  let q_low = bitcast<vec4<f32>>((vec4<u32>(w, w, w, upper) & LOW_MASK) | MAGIC) - 0x1p23;
  let q_high = bitcast<vec4<f32>>((vec4<u32>(w, w, upper, upper) & HIGH_MASK) | MAGIC) - 0x1p23;
  return dot(q_low, low) + dot(q_high, high);
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let w = words[g];
  let scale = unpack2x16float(scales[g]);
  let product = (word_product(w.x, x.a, x.e) + word_product(w.y, x.b, x.f)) +
                (word_product(w.z, x.c, x.g) + word_product(w.w, x.d, x.h));
  return scale.x * product + scale.y * x.sum;
}
