// Embedding rows: out[row] = dequantised row of the table for token tokens[row].
// Consts: N_GROUPS (of a row), FIRST_ROW, PART_ROWS (rows of the table in this part), WORKGROUP.
// Bindings: 0 words, 1 scales (a weights part), 2 step, 3 tokens, 4 out.
@group(0) @binding(2) var<storage, read> step_state: Step;
@group(0) @binding(3) var<storage, read> tokens: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let group = id.x;
  let row = id.y;
  if (group >= N_GROUPS || row >= step_state.n_rows) {
    return;
  }
  let token = tokens[row];
  if (token < FIRST_ROW || token >= FIRST_ROW + PART_ROWS) {
    return;
  }
  let g = (token - FIRST_ROW) * N_GROUPS + group;
  let scale = group_scale(g);
  let first = 8u * (row * N_GROUPS + group);
  for (var j = 0u; j < 4u; j++) {
    let q = group_quads(g, j);
    out[first + j] = scale.x * q.lo + scale.y;
    out[first + 4u + j] = scale.x * q.hi + scale.y;
  }
}
