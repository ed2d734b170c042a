// Groups of 32 elements of x to whole numbers, see quantise_input.hpp.
// Consts: N_GROUPS (of a row), PLANES, BY_VECTOR, WORKGROUP. Bindings: 0 step, 1 x, 2 bytes, 3 scales.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read_write> bytes: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> scales: array<vec2<f32>>;

const STRIDE = select(1u, N_GROUPS, BY_VECTOR);
const LARGEST = select(127.0, 32512.0, PLANES == 2u);  // 32512 = 127 * 256: fits two signed bytes on both sides
// By the step: what the largest magnitude, without its power of two, is multiplied by, and what turns v back.
const FACTOR = array<f32, 8>(LARGEST * 8.0 / 9.0, LARGEST * 8.0 / 10.0, LARGEST * 8.0 / 11.0, LARGEST * 8.0 / 12.0,
                             LARGEST * 8.0 / 13.0, LARGEST * 8.0 / 14.0, LARGEST * 8.0 / 15.0, LARGEST * 8.0 / 16.0);
const INVERSE = array<f32, 8>(9.0 / 8.0 / LARGEST, 10.0 / 8.0 / LARGEST, 11.0 / 8.0 / LARGEST, 12.0 / 8.0 / LARGEST,
                              13.0 / 8.0 / LARGEST, 14.0 / 8.0 / LARGEST, 15.0 / 8.0 / LARGEST, 16.0 / 8.0 / LARGEST);

struct Scale {
  factor: f32,   // v = round(x * factor)
  inverse: f32,  // x = v * inverse
}

fn power_of_two(biased_exponent: u32) -> f32 {
  return bitcast<f32>(biased_exponent << 23u);
}

fn scale_for(top: f32) -> Scale {
  let bits = bitcast<u32>(top);
  let exponent = bits >> 23u;
  if (exponent < 27u || exponent > 253u) {
    return Scale(0.0, 0.0);
  }
  var factors = FACTOR;
  var inverses = INVERSE;
  let step = (bits >> 20u) & 7u;
  return Scale(factors[step] * power_of_two(254u - exponent), inverses[step] * power_of_two(exponent));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= N_GROUPS || id.y >= step_state.n_rows) {
    return;
  }
  let group = id.y * N_GROUPS + id.x;
  var quads = array<vec4<f32>, 8>();
  var tops = vec4<f32>();
  var totals = vec4<f32>();
  for (var i = 0u; i < 8u; i++) {
    quads[i] = vec4<f32>(x[8u * group + i]);
    tops = max(tops, abs(quads[i]));
    totals += quads[i];
  }
  let scale = scale_for(max(max(tops.x, tops.y), max(tops.z, tops.w)));
  var high = array<u32, 8>();
  var low = array<u32, 8>();
  var sums = vec4<i32>();
  for (var i = 0u; i < 8u; i++) {
    let v = vec4<i32>(round(quads[i] * scale.factor));
    sums += v;
    if (PLANES == 1u) {
      high[i] = pack4xI8(v);
    } else {
      let upper = (v + 128) >> vec4<u32>(8u);
      high[i] = pack4xI8(upper);
      low[i] = pack4xI8(v - (upper << vec4<u32>(8u)));
    }
  }
  // A group's vectors stand STRIDE apart.
  let at = 2u * PLANES * id.y * N_GROUPS + select(2u * PLANES, 1u, BY_VECTOR) * id.x;
  // Infinity and NaN do not survive as whole numbers, so they become the scale.
  let total = (totals.x + totals.y) + (totals.z + totals.w);
  if ((bitcast<u32>(total) & 0x7F800000u) == 0x7F800000u) {
    for (var i = 0u; i < 2u * PLANES; i++) {
      bytes[at + i * STRIDE] = vec4<u32>();
    }
    scales[group] = vec2<f32>(total, total);
    return;
  }
  bytes[at] = vec4<u32>(high[0], high[1], high[2], high[3]);
  bytes[at + STRIDE] = vec4<u32>(high[4], high[5], high[6], high[7]);
  if (PLANES == 2u) {
    bytes[at + 2u * STRIDE] = vec4<u32>(low[0], low[1], low[2], low[3]);
    bytes[at + 3u * STRIDE] = vec4<u32>(low[4], low[5], low[6], low[7]);
  }
  scales[group] = vec2<f32>(scale.inverse, scale.inverse * f32((sums.x + sums.y) + (sums.z + sums.w)));
}
