// Products of one group of x with four weight rows in the q4 layout, for CPU adapters: straight-line code.
// Nibbles are masked in place and x is scaled by the power of two that their place stands for (exact), which saves
// the shifts; the conversion goes through i32, which CPUs have, so the topmost nibble is shifted after all.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const LOW_MASK = vec4<u32>(0x0000000Fu, 0x00000F00u, 0x000F0000u, 0x0F000000u);
const LOW_SCALE = vec4<f32>(1.0, 0x1p-8, 0x1p-16, 0x1p-24);
const HIGH_MASK = vec3<u32>(0x000000F0u, 0x0000F000u, 0x00F00000u);
const HIGH_SCALE = vec4<f32>(0x1p-4, 0x1p-12, 0x1p-20, 1.0);

fn word_product(w: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
  let q_low = vec4<f32>(vec4<i32>(vec4<u32>(w) & LOW_MASK));
  let q_high = vec4<f32>(vec4<i32>(vec4<u32>(vec3<u32>(w) & HIGH_MASK, w >> 28u)));
  return dot(q_low, low) + dot(q_high, high);
}

// The 32 elements of x that a group multiplies: quads 0..3 meet low nibbles, 4..7 high ones; `sum` is their sum.
struct GroupX {
  low: array<vec4<f32>, 4>,
  high: array<vec4<f32>, 4>,
  sum: f32,
}

fn prepare_x(a: array<vec4<f32>, 8>) -> GroupX {
  let total = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
  return GroupX(
    array<vec4<f32>, 4>(a[0] * LOW_SCALE, a[1] * LOW_SCALE, a[2] * LOW_SCALE, a[3] * LOW_SCALE),
    array<vec4<f32>, 4>(a[4] * HIGH_SCALE, a[5] * HIGH_SCALE, a[6] * HIGH_SCALE, a[7] * HIGH_SCALE),
    (total.x + total.y) + (total.z + total.w));
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let w = words[g];
  let scale = unpack2x16float(scales[g]);
  let product = (word_product(w.x, x.low[0], x.high[0]) + word_product(w.y, x.low[1], x.high[1])) +
                (word_product(w.z, x.low[2], x.high[2]) + word_product(w.w, x.low[3], x.high[3]));
  return scale.x * product + scale.y * x.sum;
}
