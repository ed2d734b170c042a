// Repetition penalty in place: logits of tokens in the context are divided when positive, multiplied when negative.
// Consts: N_VALID, WORKGROUP. Bindings: 0 step, 1 seen, 2 logits.
@group(0) @binding(0) var<storage, read> step_state: Step;
@group(0) @binding(1) var<storage, read> seen: array<u32>;
@group(0) @binding(2) var<storage, read_write> logits: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let token = id.x;
  if (token >= N_VALID || seen[token] == 0u) {
    return;
  }
  let value = logits[token];
  logits[token] = select(value * step_state.repeat_penalty, value / step_state.repeat_penalty, value > 0.0);
}
