// Weights stored as f16, two a word, read without shader-f16. A group is 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;

fn group_scale(g: u32) -> vec2<f32> {
  return vec2<f32>(1.0, 0.0);
}

fn load_quad(word: u32) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(words[word]), unpack2x16float(words[word + 1u]));
}

fn group_quads(g: u32, j: u32) -> Quads {
  let first = 16u * g + 2u * j;
  return Quads(load_quad(first), load_quad(first + 8u));
}
