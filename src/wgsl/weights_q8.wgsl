// Weights in the q8 layout of base/quant_layout.hpp. Group g of the whole matrix holds 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

const HAS_MIN = false;

// Elements 4j..4j+3 and 16+4j..16+4j+3 of a group, before scaling.
struct Quads {
  lo: vec4<f32>,
  hi: vec4<f32>,
}

// (d, 0): value = d * q.
fn group_scale(g: u32) -> vec2<f32> {
  return unpack2x16float(scales[g]);
}

fn group_quads(g: u32, j: u32) -> Quads {
  return Quads(vec4<f32>(unpack4xI8(words[8u * g + j])), vec4<f32>(unpack4xI8(words[8u * g + 4u + j])));
}
