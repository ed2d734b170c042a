// Keys and values in the activation type. Const: HEAD_DIM.
alias KvQuad = vec4<Elem>;  // what the cache is an array of

const KV_SLOT = HEAD_DIM / 4u;  // KvQuads of a head at a position

// Where quad `i` of a head is from its first KvQuad on, and its scale, which this type has none of.
fn kv_quad_at(i: u32) -> u32 {
  return i;
}
fn kv_scale_at(i: u32) -> u32 {
  return i;
}

fn kv_value(quad: KvQuad, scale: KvQuad) -> vec4<f32> {
  return vec4<f32>(quad);
}
