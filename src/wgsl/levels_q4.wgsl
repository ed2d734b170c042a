// Groups of a weight row in the q4 layout as signed bytes.
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> scales: array<u32>;

fn load_levels(g: u32) -> Levels {
  let w = words[g];
  return Levels(w & vec4<u32>(0x0F0F0F0Fu), (w >> vec4<u32>(4u)) & vec4<u32>(0x0F0F0F0Fu), unpack2x16float(scales[g]));
}
