// Products of one group of x with a weight row of any kind, for GPUs: through the functions of a weights part.
struct GroupX {
  a: array<vec4<f32>, 8>,
  sum: f32,
}

fn prepare_x(a: array<vec4<f32>, 8>) -> GroupX {
  let total = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
  return GroupX(a, (total.x + total.y) + (total.z + total.w));
}

fn quad_product(g: u32, j: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
  let q = group_quads(g, j);
  return dot(q.lo, low) + dot(q.hi, high);
}

fn group_product(g: u32, x: GroupX) -> f32 {
  let scale = group_scale(g);
  let product = (quad_product(g, 0u, x.a[0], x.a[4]) + quad_product(g, 1u, x.a[1], x.a[5])) +
                (quad_product(g, 2u, x.a[2], x.a[6]) + quad_product(g, 3u, x.a[3], x.a[7]));
  return scale.x * product + scale.y * x.sum;
}
