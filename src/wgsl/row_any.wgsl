// Products of one group of x with a weight row of any kind, for GPUs: through the functions of a weights part.
const X_LOW_SCALE = vec4<f32>(1.0);
const X_HIGH_SCALE = vec4<f32>(1.0);

fn quad_product(g: u32, j: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
  let q = group_quads(g, j);
  return dot(q.lo, low) + dot(q.hi, high);
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let scale = group_scale(g);
  let product = (quad_product(g, 0u, x.a, x.e) + quad_product(g, 1u, x.b, x.f)) +
                (quad_product(g, 2u, x.c, x.g) + quad_product(g, 3u, x.d, x.h));
  return scale.x * product + scale.y * x.sum;
}
