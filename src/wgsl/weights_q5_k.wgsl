// Weights in the q5_k layout of base/quant_layout.hpp. Group g of the whole matrix holds 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

// (d * sc, -dmin * mn): value = x * q + y. Eight groups share (d, dmin), and two the word of their sc and mn.
fn group_scale(g: u32) -> vec2<f32> {
  let block = 5u * (g / 8u);
  let bytes = unpack4xU8(scales[block + 1u + (g % 8u) / 2u]);
  let pair = vec2<f32>(select(bytes.xy, bytes.zw, g % 2u == 1u));
  return unpack2x16float(scales[block]) * vec2<f32>(pair.x, -pair.y);
}

// Words 0..3 hold nibbles, word 4 every fifth bit.
fn group_quads(g: u32, j: u32) -> Quads {
  let w = words[5u * g + j];
  let fifth_bits = words[5u * g + 4u] >> j;
  return Quads(vec4<f32>(unpack4xU8((w & 0x0F0F0F0Fu) | ((fifth_bits & 0x01010101u) << 4u))),
               vec4<f32>(unpack4xU8(((w >> 4u) & 0x0F0F0F0Fu) | (fifth_bits & 0x10101010u))));
}
