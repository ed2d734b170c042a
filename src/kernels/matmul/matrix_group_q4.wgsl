// A group of weights in the q4 layout, which becomes f16 by few operations. Bindings: 0 words, 1 scales.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

struct Group {
  words: vec4<u32>,
  scale: u32,
}

// One that is not there multiplies to nothing.
fn load_group(g: u32, is_there: bool) -> Group {
  return Group(words[g], select(0u, scales[g], is_there));
}

// Levels two bytes apart, by the last bits of 1024 in f16, which are whole numbers: those in the lower halves of bytes, and in
// the upper ones, where a level counts sixteenfold. `thousand` is 1024 twice.
fn lower_levels(word: u32, thousand: u32) -> vec2<f16> {
  return bitcast<vec2<f16>>((word & 0x000F000Fu) | thousand) - 1024.0h;
}
fn upper_levels(word: u32, thousand: u32) -> vec2<f16> {
  return fma(bitcast<vec2<f16>>((word & 0x00F000F0u) | thousand), vec2<f16>(0.0625h), vec2<f16>(-64.0h));
}

fn lower_weights(word: u32, thousand: u32, scale: vec2<f16>) -> vec2<u32> {
  return weights_in_order(lower_levels(word, thousand), lower_levels(word >> 8u, thousand), scale);
}
fn upper_weights(word: u32, thousand: u32, scale: vec2<f16>) -> vec2<u32> {
  return weights_in_order(upper_levels(word, thousand), upper_levels(word >> 8u, thousand), scale);
}

// `zero` is 0, which a compiler does not know: it then masks and joins bits in one operation, with a register.
fn group_halves(group: Group, zero: u32) -> Halves {
  let thousand = 0x64006400u | zero;
  let scale = bitcast<vec2<f16>>(group.scale);
  let w = group.words;
  return Halves(vec4<u32>(lower_weights(w.x, thousand, scale), lower_weights(w.y, thousand, scale)),
                vec4<u32>(lower_weights(w.z, thousand, scale), lower_weights(w.w, thousand, scale)),
                vec4<u32>(upper_weights(w.x, thousand, scale), upper_weights(w.y, thousand, scale)),
                vec4<u32>(upper_weights(w.z, thousand, scale), upper_weights(w.w, thousand, scale)));
}
