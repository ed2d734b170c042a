// Products of one group of x with a weight row in the q8 layout, in whole numbers.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

struct GroupW {
  a: vec4<u32>,
  b: vec4<u32>,
  scale: u32,
}

fn load_group(g: u32) -> GroupW {
  return GroupW(words[2u * g], words[2u * g + 1u], scales[g]);
}

fn group_product(w: GroupW, x: GroupX) -> f32 {
  // Levels less 128 are signed bytes.
  let a = w.a ^ vec4<u32>(0x80808080u);
  let b = w.b ^ vec4<u32>(0x80808080u);
  let sum_a = f32(256 * dot16(a, x.high_a) + dot16(a, x.low_a));
  let sum_b = f32(256 * dot16(b, x.high_b) + dot16(b, x.low_b));
  let scale = unpack2x16float(w.scale);
  return scale.x * (x.scale_a * sum_a + x.scale_b * sum_b) + (128.0 * scale.x + scale.y) * x.sum;
}
