// Feeds the choice back: it becomes row 0 of the next pass, whose position follows this pass. One thread.
// Bindings: 0 step, 1 tokens, 2 seen.
@group(0) @binding(0) var<storage, read_write> step_state: Step;
@group(0) @binding(1) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(2) var<storage, read_write> seen: array<u32>;

@compute @workgroup_size(1)
fn main() {
  let choice = step_state.choice;
  tokens[0] = choice;
  seen[choice] = 1u;
  step_state.ring[step_state.n_chosen % 64u] = choice;
  step_state.n_chosen += 1u;
  step_state.position += step_state.n_rows;
  step_state.n_rows = 1u;
}
