// The 32 elements of x that a group of any row part multiplies, a to d scaled by X_LOW_SCALE and e to h by X_HIGH_SCALE of
// that part; `sum` is their sum before. Fields of their own, because drivers may keep arrays in memory.
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
  return GroupX(a * X_LOW_SCALE, b * X_LOW_SCALE, c * X_LOW_SCALE, d * X_LOW_SCALE, e * X_HIGH_SCALE,
                f * X_HIGH_SCALE, g * X_HIGH_SCALE, h * X_HIGH_SCALE, (total.x + total.y) + (total.z + total.w));
}
