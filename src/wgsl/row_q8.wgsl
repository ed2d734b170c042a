// Products of one group of x with a weight row in the q8 layout, for GPUs; see row_q4 for the trick.
// A byte masked in place under the exponent of 2^23 is the float 2^23 + q * 2^place exactly.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const MAGIC = vec4<u32>(0x4B000000u);
const BYTE_MASK = vec4<u32>(0x000000FFu, 0x0000FF00u, 0x000000FFu, 0x0000FF00u);
const X_LOW_SCALE = vec4<f32>(1.0, 0x1p-8, 1.0, 0x1p-8);
const X_HIGH_SCALE = X_LOW_SCALE;

fn word_product(w: u32, x: vec4<f32>) -> f32 {
  let upper = w >> 16u;
  return dot(bitcast<vec4<f32>>((vec4<u32>(w, w, upper, upper) & BYTE_MASK) | MAGIC) - 0x1p23, x);
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let low = words[2u * g];
  let high = words[2u * g + 1u];
  let scale = unpack2x16float(scales[g]);
  let product = ((word_product(low.x, x.a) + word_product(low.y, x.b)) +
                 (word_product(low.z, x.c) + word_product(low.w, x.d))) +
                ((word_product(high.x, x.e) + word_product(high.y, x.f)) +
                 (word_product(high.z, x.g) + word_product(high.w, x.h)));
  return scale.x * product + scale.y * x.sum;
}
