// Products of one group of x with a weight row of any kind, for GPUs: through the functions of a weights part.
struct GroupX {
  a: vec4<f32>,
  b: vec4<f32>,
  c: vec4<f32>,
  d: vec4<f32>,
  e: vec4<f32>,
  f: vec4<f32>,
  g: vec4<f32>,
  h: vec4<f32>,
  sum: f32,
}

fn prepare_x(q: u32) -> GroupX {
  let a = x_quad(q);
  let b = x_quad(q + 1u);
  let c = x_quad(q + 2u);
  let d = x_quad(q + 3u);
  let e = x_quad(q + 4u);
  let f = x_quad(q + 5u);
  let g = x_quad(q + 6u);
  let h = x_quad(q + 7u);
  let total = ((a + b) + (c + d)) + ((e + f) + (g + h));
  return GroupX(a, b, c, d, e, f, g, h, (total.x + total.y) + (total.z + total.w));
}

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
