// Keys and values as int8 (base/int8_groups.hpp): 32 elements are 8 words of levels, then a word with their scale.
// Each head begins a group. Const: HEAD_DIM.
alias KvQuad = u32;  // what the cache is an array of: four levels, or a scale

const KV_GROUP_QUADS = 8u;
const KV_GROUP_WORDS = KV_GROUP_QUADS + 1u;
const KV_SLOT = (HEAD_DIM / 4u + KV_GROUP_QUADS - 1u) / KV_GROUP_QUADS * KV_GROUP_WORDS;  // KvQuads of a head at a position

// Where quad `i` of a head is from its first KvQuad on, and its scale.
fn kv_quad_at(i: u32) -> u32 {
  return i + i / KV_GROUP_QUADS;
}
fn kv_scale_at(i: u32) -> u32 {
  return i / KV_GROUP_QUADS * KV_GROUP_WORDS + KV_GROUP_QUADS;
}

fn kv_value(quad: KvQuad, scale: KvQuad) -> vec4<f32> {
  return vec4<f32>(unpack4xI8(quad)) * bitcast<f32>(scale);
}
