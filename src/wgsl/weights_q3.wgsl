// Weights in the q3 layout of base/quant_layout.hpp. Group g of the whole matrix holds 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

// (d, m): value = d * q + m.
fn group_scale(g: u32) -> vec2<f32> {
  return unpack2x16float(scales[g]);
}

// Words 0 and 1 hold the low two bits of elements 0..15 and 16..31, word 2 every high bit.
fn group_quads(g: u32, j: u32) -> Quads {
  let lo = (words[3u * g] >> (2u * j)) & 0x03030303u;
  let hi = (words[3u * g + 1u] >> (2u * j)) & 0x03030303u;
  let high_bits = words[3u * g + 2u] >> j;
  return Quads(vec4<f32>(unpack4xU8(lo | ((high_bits & 0x01010101u) << 2u))),
               vec4<f32>(unpack4xU8(hi | ((high_bits & 0x10101010u) >> 2u))));
}
