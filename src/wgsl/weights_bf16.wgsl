// Weights stored as bfloat16, two a word: each is the upper half of an f32. A group is 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<u32>;

fn group_scale(g: u32) -> vec2<f32> {
  return vec2<f32>(1.0, 0.0);
}

fn load_quad(word: u32) -> vec4<f32> {
  let a = words[word];
  let b = words[word + 1u];
  return bitcast<vec4<f32>>(vec4<u32>(a << 16u, a & 0xFFFF0000u, b << 16u, b & 0xFFFF0000u));
}

fn group_quads(g: u32, j: u32) -> Quads {
  let first = 16u * g + 2u * j;
  return Quads(load_quad(first), load_quad(first + 8u));
}
