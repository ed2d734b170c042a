// The state of a generation, on the GPU: kernels/step.hpp is its C++ twin.
struct Step {
  n_rows: u32,         // rows of this pass
  position: u32,       // position of row 0 in the sequence
  n_chosen: u32,       // tokens chosen since the generation began
  n_not_finite: u32,   // logits that were NaN or infinite, over all choices
  temperature: f32,
  top_p: f32,
  min_p: f32,
  repeat_penalty: f32,
  top_k: u32,
  seed_low: u32,
  seed_high: u32,
  choice: u32,         // the token chosen last
  ring: array<u32, 64>,  // token number i of the generation is at i % 64
}
