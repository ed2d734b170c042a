// Causal depthwise convolution and SiLU. One thread handles one channel of TILE rows.
// Consts: CHANNELS, WIDTH (taps), X_STRIDE, FIRST (column of x), TILE, WORKGROUP.
// Bindings: 0 step, 1 x, 2 weight, 3 state, 4 out.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> x: array<Elem>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<Elem>;

const HISTORY = WIDTH - 1u;
const_assert TILE >= HISTORY;  // only the first tile reaches back into the state

// Row `i` of the sequence that the state's rows begin, followed by those of the pass.
fn raw_row(i: u32, channel: u32) -> f32 {
  if (i >= HISTORY) {
    return f32(x[(i - HISTORY) * X_STRIDE + FIRST + channel]);
  }
  if (step_state.position == 0u) {
    return 0.0;
  }
  return state[i * CHANNELS + channel];
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let channel = id.x;
  let first_row = id.y * TILE;
  if (channel >= CHANNELS || first_row >= step_state.n_rows) {
    return;
  }
  var taps: array<f32, WIDTH>;
  var window: array<f32, WIDTH>;  // raw rows, the newest last
  for (var j = 0u; j < WIDTH; j++) {
    taps[j] = weight[channel * WIDTH + j];
  }
  for (var j = 0u; j < HISTORY; j++) {
    window[j + 1u] = raw_row(first_row + j, channel);
  }
  for (var row = first_row; row < min(first_row + TILE, step_state.n_rows); row++) {
    for (var j = 0u; j < HISTORY; j++) {
      window[j] = window[j + 1u];
    }
    window[HISTORY] = raw_row(row + HISTORY, channel);
    var sum = 0.0;
    for (var j = 0u; j < WIDTH; j++) {
      sum += taps[j] * window[j];
    }
    out[row * CHANNELS + channel] = Elem(silu(sum));
  }
  if (first_row == 0u) {
    // Ascending: a row of the state is read before it is written.
    for (var j = 0u; j < HISTORY; j++) {
      state[j * CHANNELS + channel] = raw_row(step_state.n_rows + j, channel);
    }
  }
}
