// Weights stored as f32. A group is 32 weights of one row.
@group(0) @binding(0) var<storage, read> words: array<vec4<f32>>;

fn group_scale(g: u32) -> vec2<f32> {
  return vec2<f32>(1.0, 0.0);
}

fn group_quads(g: u32, j: u32) -> Quads {
  return Quads(words[8u * g + j], words[8u * g + 4u + j]);
}
