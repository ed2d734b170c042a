// Groups of a weight row in the q8 layout as signed bytes: levels less 128.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

fn load_levels(g: u32) -> Levels {
  let scale = unpack2x16float(scales[g]);
  return Levels(words[2u * g] ^ vec4<u32>(0x80808080u), words[2u * g + 1u] ^ vec4<u32>(0x80808080u),
                vec2<f32>(scale.x, 128.0 * scale.x + scale.y));
}
