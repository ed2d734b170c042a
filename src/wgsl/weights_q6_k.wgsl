// Weights in the q6_k layout of base/quant_layout.hpp. Group g of the whole matrix holds 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

// (d, 0): the sub-scales are in the quads.
fn group_scale(g: u32) -> vec2<f32> {
  return vec2<f32>(bitcast<f32>(scales[5u * (g / 8u)]), 0.0);
}

// sc * (q - 32), an exact integer. Words 0..3 hold nibbles, 4 and 5 the upper two bits of elements 0..15 and 16..31;
// the two halves of a group have sub-scales of their own.
fn group_quads(g: u32, j: u32) -> Quads {
  let w = words[6u * g + j];
  let lo = (w & 0x0F0F0F0Fu) | (((words[6u * g + 4u] >> (2u * j)) & 0x03030303u) << 4u);
  let hi = ((w >> 4u) & 0x0F0F0F0Fu) | (((words[6u * g + 5u] >> (2u * j)) & 0x03030303u) << 4u);
  let bytes = unpack4xI8(scales[5u * (g / 8u) + 1u + (g % 8u) / 2u]);
  let sub_scales = vec2<f32>(select(bytes.xy, bytes.zw, g % 2u == 1u));
  return Quads(sub_scales.x * (vec4<f32>(unpack4xU8(lo)) - 32.0), sub_scales.y * (vec4<f32>(unpack4xU8(hi)) - 32.0));
}
