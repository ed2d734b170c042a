// Groups of a weight row as signed bytes, of any kind whose levels are below 128: through the functions of a weights part.
fn load_levels(g: u32) -> Levels {
  var low = vec4<u32>();
  var high = vec4<u32>();
  for (var j = 0u; j < 4u; j++) {
    let quads = group_quads(g, j);
    low[j] = pack4xU8(vec4<u32>(quads.lo));
    high[j] = pack4xU8(vec4<u32>(quads.hi));
  }
  return Levels(low, high, group_scale(g));
}
