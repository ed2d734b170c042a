// The gates of the delta rule. Consts: X_STRIDE, FIRST_B, FIRST_A (columns of x).
// Bindings: 0 step, 2 x, 3 a_log, 4 dt_bias.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(2) var<storage, read> x: array<Elem>;
@group(0) @binding(3) var<storage, read> a_log: array<f32>;
@group(0) @binding(4) var<storage, read> dt_bias: array<f32>;

// log(1 + e) for e from 0 to 1, to the last bits also of small e: 2 atanh(e / (2 + e)) as a series. The log of WGSL
// promises an absolute error only.
fn log_1p(e: f32) -> f32 {
  let s = e / (2.0 + e);
  let t = s * s;
  let far = 1.0 / 9.0 + t * (1.0 / 11.0 + t * (1.0 / 13.0 + t / 15.0));
  let series = 1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * far)));
  return 2.0 * s * series;
}

// log(1 + exp(v)), where exp sees no positive number.
fn softplus(v: f32) -> f32 {
  return max(v, 0.0) + log_1p(exp(-abs(v)));
}

// Logarithm of the factor that a row decays a head's state by; never positive.
fn log_decay(row: u32, head: u32) -> f32 {
  return -exp(a_log[head]) * softplus(f32(x[row * X_STRIDE + FIRST_A + head]) + dt_bias[head]);
}

// How much of its error a row corrects, 0 to 1.
fn write_strength(row: u32, head: u32) -> f32 {
  return sigmoid(f32(x[row * X_STRIDE + FIRST_B + head]));
}
