// Epilogue of a pair of matmuls: silu(gate) * up (Shazeer 2020). exp overflows to infinity for very negative gates,
// and gate / infinity is the right 0.
@group(0) @binding(4) var<storage, read_write> out: array<Elem>;

fn finish(row: u32, column: u32, gate: f32, up: f32) {
  out[row * OUT_STRIDE + OUT_FIRST + column] = Elem(gate / (1.0 + exp(-gate)) * up);
}
