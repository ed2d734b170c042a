// Products of one group of x with a weight row in the q8 layout, for GPUs; see row_q4 for the trick.
// A byte masked in place under the exponent of 2^23 is the float 2^23 + q * 2^place exactly.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const MAGIC = vec4<u32>(0x4B000000u);
const BYTE_MASK = vec4<u32>(0x000000FFu, 0x0000FF00u, 0x000000FFu, 0x0000FF00u);
const BYTE_SCALE = vec4<f32>(1.0, 0x1p-8, 1.0, 0x1p-8);

fn word_product(w: u32, x: vec4<f32>) -> f32 {
  let upper = w >> 16u;
  return dot(bitcast<vec4<f32>>((vec4<u32>(w, w, upper, upper) & BYTE_MASK) | MAGIC) - 0x1p23, x);
}

// The 32 elements of x that a group multiplies, scaled; `sum` is the sum before.
struct GroupX {
  scaled: array<vec4<f32>, 8>,
  sum: f32,
}

fn prepare_x(a: array<vec4<f32>, 8>) -> GroupX {
  let total = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
  return GroupX(
    array<vec4<f32>, 8>(a[0] * BYTE_SCALE, a[1] * BYTE_SCALE, a[2] * BYTE_SCALE, a[3] * BYTE_SCALE,
                        a[4] * BYTE_SCALE, a[5] * BYTE_SCALE, a[6] * BYTE_SCALE, a[7] * BYTE_SCALE),
    (total.x + total.y) + (total.z + total.w));
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let a = words[2u * g];
  let b = words[2u * g + 1u];
  let scale = unpack2x16float(scales[g]);
  let product = ((word_product(a.x, x.scaled[0]) + word_product(a.y, x.scaled[1])) +
                 (word_product(a.z, x.scaled[2]) + word_product(a.w, x.scaled[3]))) +
                ((word_product(b.x, x.scaled[4]) + word_product(b.y, x.scaled[5])) +
                 (word_product(b.z, x.scaled[6]) + word_product(b.w, x.scaled[7])));
  return scale.x * product + scale.y * x.sum;
}
