#pragma once
// Matrix product with quantised weights: out[r, n] = sum_k x[r, k] * W[n, k], then an epilogue.
// GPU set with subgroup matrices, many rows: x and weights as f16, products of 16 x 16 matrices.
// GPU set, one row: x as 16-bit integers with a scale for each 16 elements, products exact in integers, the norm made
// along. GPU set, more rows: x as integers of 16 or 8 bits with a scale for each 32 elements (quantise_input.hpp) and tiles
// of rows and columns; weights that are no such integers: f32 tiles, or one or eight n and four rows a workgroup. CPU set: one
// thread = four n of a single row where the shape allows it (8 times the speed), else one n and a tile of rows.
// Accumulates in f32. Bytes moved: all of W once for each tile of rows (decode: once), x and out.
#include <optional>

#include "kernels/matrix.hpp"
#include "kernels/quantise_input/quantise_input.hpp"
#include "kernels/row_counts.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

enum class Epilogue : std::uint8_t {
  store,         // out = product, activation type
  store_f32,     // out = product, f32: logits
  add_residual,  // out += product, f32
  swiglu,        // out = silu(gate) * up; each part of W holds [gate; up], out has half its rows as columns
};

// RMS norm of the rows before the product. Where a form makes it along with the product, `normed` is not written.
struct InputNorm {
  std::string_view name;  // of the op, if it becomes one
  gpu::Tensor weight;     // [weights.dim] f32
  float eps = 0.0f;
  gpu::Tensor normed;  // as x of a Matmul without norm
};

struct Matmul {
  const Matrix& weights;
  Epilogue epilogue = Epilogue::store;
  Rows rows = Rows::all;  // last: x has one row, which rms_norm with Rows::last wrote; with a norm it has all
  std::optional<InputNorm> norm = std::nullopt;
  std::optional<QuantisedInput> quantised =
      std::nullopt;  // memory for the form that needs it; without, others are taken
  gpu::Tensor step;  // Step
  gpu::Tensor x;     // [max_rows, weights.dim] activation type, padded to a tile of rows; with a norm f32
  gpu::Tensor out;   // [max_rows, columns]
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
  bool normed = false;  // x is the residual stream, whose RMS norm is multiplied
  float norm_eps = 0.0f;
  std::uint32_t planes =
      0;  // of a QuantisedInput that stands for x: its bytes at x, its scales at binding 5; 0: none
  QuantisedOrder order = QuantisedOrder::by_group;  // of these bytes
};

// What the 16-bit activations of the one-row GPU form add to a tolerance: half a step of 2^-15 of the largest of 16
// elements, which is three to six times the others' size, and 4.5 deviations of the sum.
inline constexpr float k_row_bytes_tolerance = 0x1p-12f;

// What weights rounded to f16 add: 2^-12 of each on average, 4.5 deviations of the sum, for a pair of matrices and where few
// products stand out some more. Weights from 2^-14 to 65504, as models have them; larger ones become infinite.
inline constexpr float k_matrix_weights_tolerance = 0x1.8p-9f;

// The oracle, on bindings words, scales, step, x, out; the norm's weight, or the scales of x.
void matmul_reference(std::span<const gpu::HostView> views, const MatmulShape& shape);

}  // namespace ztvm::kernels
