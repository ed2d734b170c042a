#pragma once
// Matrix product with quantised weights: out[r, n] = sum_k x[r, k] * W[n, k], then an epilogue.
// GPU set: one workgroup = one n and a tile of rows. CPU set: one thread = four n of a single row where the shape
// allows it (8 times the speed), else one n and a tile of rows.
// Accumulates in f32. Bytes moved: all of W once for each tile of rows (decode: once), x and out.
#include "kernels/matrix.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

enum class Epilogue : std::uint8_t {
  store,         // out = product, activation type
  store_f32,     // out = product, f32: logits
  add_residual,  // out += product, f32
  swiglu,        // out = silu(gate) * up; each part of W holds [gate; up], out has half its rows as columns
};

struct Matmul {
  const Matrix& weights;
  Epilogue epilogue = Epilogue::store;
  Rows rows = Rows::all;  // last: x has one row, which rms_norm with Rows::last wrote
  gpu::Tensor step;       // Step
  gpu::Tensor x;          // [max_rows, weights.dim] activation type; padded to a tile of rows
  gpu::Tensor out;        // [max_rows, columns]
};

// Rows of x that one thread or workgroup shares a weight row for; x needs memory for a multiple of it.
std::uint32_t matmul_tile(std::uint32_t max_rows);

void matmul(gpu::Recording& recording, std::string_view name, const Matmul& args);

struct MatmulShape {
  QuantKind kind = QuantKind::f32;
  std::uint32_t dim = 0;
  std::uint32_t first_element = 0;  // of the sum over a row's elements, when several ops share it
  std::uint32_t n_elements = 0;     // of that sum; dim for a whole one
  std::uint32_t n_out = 0;          // columns made by this op
  std::uint32_t out_stride = 0;     // columns of out
  std::uint32_t out_first = 0;      // first column made
  Epilogue epilogue = Epilogue::store;
  Rows rows = Rows::all;
};

// The oracle, on bindings words, scales, step, x, out.
void matmul_reference(std::span<const gpu::HostView> views, const MatmulShape& shape);

}  // namespace ztvm::kernels
