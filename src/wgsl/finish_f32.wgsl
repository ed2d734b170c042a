// Epilogue of a matmul: stores the product as f32 (logits).
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

fn finish(row: u32, column: u32, a: f32, b: f32) {
  out[row * OUT_STRIDE + OUT_FIRST + column] = a;
}
