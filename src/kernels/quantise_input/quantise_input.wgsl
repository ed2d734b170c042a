// Groups of 32 elements of x to whole numbers, see quantise_input.hpp: four neighbouring threads a group, eight elements each.
// Consts: N_GROUPS (of a row), PLANES, BY_VECTOR, WORKGROUP. Bindings: 0 step, 1 x, 2 bytes, 3 scales. Parts: folds, fours.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<vec4<Elem>>;
@group(0) @binding(2) var<storage, read_write> bytes: array<vec2<u32>>;  // halves of vectors
@group(0) @binding(3) var<storage, read_write> scales: array<vec2<f32>>;

const STRIDE = select(1u, N_GROUPS, BY_VECTOR);  // between a group's vectors
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
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.y;
  if (row >= step_state.n_rows) {
    return;
  }
  let in_row = (workgroup.x * WORKGROUP + thread) / 4u;
  let part = thread % 4u;
  let group = row * N_GROUPS + min(in_row, N_GROUPS - 1u);
  let a = vec4<f32>(x[8u * group + 2u * part]);
  let b = vec4<f32>(x[8u * group + 2u * part + 1u]);
  let scale = scale_for(fours_max(largest(max(abs(a), abs(b))), thread));
  let va = vec4<i32>(round(a * scale.factor));
  let vb = vec4<i32>(round(b * scale.factor));
  // Infinity and NaN do not survive as whole numbers, so they become the scale. Sums of whole numbers are exact in f32.
  let raw_sum = total(a + b);
  let v = va + vb;
  let has_all = (bitcast<u32>(raw_sum) & 0x7F800000u) != 0x7F800000u;
  let sum = fours_sum(select(raw_sum, f32((v.x + v.y) + (v.z + v.w)), has_all), thread);
  if (in_row >= N_GROUPS) {
    return;
  }
  let is_finite = (bitcast<u32>(sum) & 0x7F800000u) != 0x7F800000u;
  var high = vec2<u32>(pack4xI8(va), pack4xI8(vb));
  var low = vec2<u32>();
  if (PLANES == 2u) {
    let upper_a = (va + 128) >> vec4<u32>(8u);
    let upper_b = (vb + 128) >> vec4<u32>(8u);
    high = vec2<u32>(pack4xI8(upper_a), pack4xI8(upper_b));
    low = vec2<u32>(pack4xI8(va - (upper_a << vec4<u32>(8u))), pack4xI8(vb - (upper_b << vec4<u32>(8u))));
  }
  let vector = 2u * PLANES * row * N_GROUPS + select(2u * PLANES, 1u, BY_VECTOR) * in_row + part / 2u * STRIDE;
  bytes[2u * vector + part % 2u] = select(vec2<u32>(), high, is_finite);
  if (PLANES == 2u) {
    bytes[2u * (vector + 2u * STRIDE) + part % 2u] = select(vec2<u32>(), low, is_finite);
  }
  if (part == 0u) {
    scales[group] = select(vec2<f32>(sum), vec2<f32>(scale.inverse, scale.inverse * sum), is_finite);
  }
}
