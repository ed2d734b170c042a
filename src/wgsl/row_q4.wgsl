// Products of one group of x with a weight row in the q4 layout, in whole numbers.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

struct GroupW {
  words: vec4<u32>,
  scale: u32,
}

fn load_group(g: u32) -> GroupW {
  return GroupW(words[g], scales[g]);
}

fn group_product(w: GroupW, x: GroupX) -> f32 {
  let a = w.words & vec4<u32>(0x0F0F0F0Fu);
  let b = (w.words >> vec4<u32>(4u)) & vec4<u32>(0x0F0F0F0Fu);
  let sum_a = f32(256 * dot16(a, x.high_a) + dot16(a, x.low_a));
  let sum_b = f32(256 * dot16(b, x.high_b) + dot16(b, x.low_b));
  let scale = unpack2x16float(w.scale);
  return scale.x * (x.scale_a * sum_a + x.scale_b * sum_b) + scale.y * x.sum;
}
