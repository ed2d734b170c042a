// Writes to a cache of kv_int8: quad `i` of a head whose place begins at KvQuad `first`, and with a group's first quad the
// scale. The body binds keys and values, and gives fresh_quad(head, i): quad i of a head that is written.
const KV_INFINITY = 0x7F800000u;
const KV_TINY = 1e-30;  // groups below are zeros

// The scale of the group that quad `i` lies in. Magnitudes are compared by their bits, so that infinity and NaN win.
fn fresh_scale(head: u32, i: u32) -> u32 {
  let first = i / KV_GROUP_QUADS * KV_GROUP_QUADS;
  var top = vec4<u32>();
  for (var q = first; q < min(first + KV_GROUP_QUADS, HEAD_DIM / 4u); q++) {
    top = max(top, bitcast<vec4<u32>>(fresh_quad(head, q)) & vec4<u32>(0x7FFFFFFFu));
  }
  let bits = max(max(top.x, top.y), max(top.z, top.w));
  if (bits >= KV_INFINITY) {
    return bits;
  }
  let magnitude = bitcast<f32>(bits);
  return select(0u, bitcast<u32>(magnitude * (1.0 / 127.0)), magnitude >= KV_TINY);
}

fn fresh_levels(head: u32, i: u32, scale: u32) -> u32 {
  if (scale == 0u) {
    return 0u;
  }
  if (scale >= KV_INFINITY) {
    return 0x01010101u;
  }
  return pack4xI8(vec4<i32>(clamp(round(fresh_quad(head, i) / bitcast<f32>(scale)), vec4<f32>(-127.0), vec4<f32>(127.0))));
}

fn write_key(first: u32, i: u32, head: u32) {
  let scale = fresh_scale(head, i);
  keys[first + kv_quad_at(i)] = fresh_levels(head, i, scale);
  if (i % KV_GROUP_QUADS == 0u) {
    keys[first + kv_scale_at(i)] = scale;
  }
}
fn write_value(first: u32, i: u32, head: u32) {
  let scale = fresh_scale(head, i);
  values[first + kv_quad_at(i)] = fresh_levels(head, i, scale);
  if (i % KV_GROUP_QUADS == 0u) {
    values[first + kv_scale_at(i)] = scale;
  }
}
