// A group of weights of any kind that has levels, as f16. Const: SCALES_ARE_F16. Needs a levels part (bindings 0 and 1).
struct Group {
  levels: Levels,
}

// One that is not there multiplies to nothing.
fn load_group(g: u32, is_there: bool) -> Group {
  var levels = load_levels(g);
  levels.scale = select(vec2<f32>(), levels.scale, is_there);
  return Group(levels);
}

// Four weights of levels as signed bytes. The last bits of 0x6400, which is 1024 in f16, are whole numbers: a level with its
// sign flipped is 1024 + 128 more. A scale that is no f16 itself would cost a group more than rounding each weight.
fn weights_of(levels: u32, scale: vec2<f32>) -> vec2<u32> {
  if (!SCALES_ARE_F16) {
    return bitcast<vec2<u32>>(vec4<f16>(vec4<f32>(unpack4xI8(levels)) * scale.x + scale.y));
  }
  let word = levels ^ 0x80808080u;
  let even = bitcast<vec2<f16>>((word & 0x00FF00FFu) | 0x64006400u) - 1152.0h;
  let odd = bitcast<vec2<f16>>(((word >> 8u) & 0x00FF00FFu) | 0x64006400u) - 1152.0h;
  return weights_in_order(even, odd, vec2<f16>(scale));
}

fn eight_weights(levels: vec2<u32>, scale: vec2<f32>) -> vec4<u32> {
  return vec4<u32>(weights_of(levels.x, scale), weights_of(levels.y, scale));
}

// `zero`: see matrix_group_q4.
fn group_halves(group: Group, zero: u32) -> Halves {
  let levels = group.levels;
  return Halves(eight_weights(levels.a.xy, levels.scale), eight_weights(levels.a.zw, levels.scale),
                eight_weights(levels.b.xy, levels.scale), eight_weights(levels.b.zw, levels.scale));
}
