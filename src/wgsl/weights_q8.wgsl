// Weights in the q8 layout of base/quant_layout.hpp. Group g of the whole matrix holds 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

// (d, m): value = d * q + m.
fn group_scale(g: u32) -> vec2<f32> {
  return unpack2x16float(scales[g]);
}

fn group_quads(g: u32, j: u32) -> Quads {
  return Quads(vec4<f32>(unpack4xU8(words[8u * g + j])), vec4<f32>(unpack4xU8(words[8u * g + 4u + j])));
}
