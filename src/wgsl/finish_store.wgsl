// Epilogue of a matmul: stores the product. Consts: OUT_STRIDE (columns of out), OUT_FIRST (its first column here).
@group(0) @binding(4) var<storage, read_write> out: array<Elem>;

fn finish(row: u32, column: u32, a: f32, b: f32) {
  out[row * OUT_STRIDE + OUT_FIRST + column] = Elem(a);
}
