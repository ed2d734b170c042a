#pragma once
// From the layouts of files to the layout of GPU buffers (base/quant_layout.hpp), row by row.
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/quant_layout.hpp"
#include "load/checkpoint.hpp"

namespace ztvm::load {

// The buffer layout that a tensor becomes. A matrix keeps its precision: F32 f32, F16 f16, BF16 bf16, Q5_0, Q5_1
// and Q8_0 q8, Q4_0 and Q4_1 q4, Q4_K q4_k, Q5_K q5_k, Q6_K q6_k, q4f16_1 q4, affine q3, q4 or q8 by its bits. Experts
// [E, rows, dim] are E * rows rows. A vector (norm weights, biases) of F32, F16 or BF16 becomes one row of f32.
// Errors: unsupported for a quantised vector, for more than three dimensions, a matrix whose dim is no multiple of
// the layout's dim_multiple() or of the affine group, affine bits or groups without kernels, more than 2^32 - 1 rows,
// or a row of more than 64 MiB.
Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file);

// One row as its file, or the files of its parts, have it. Need not be aligned.
struct RowSource {
  Dtype dtype = Dtype::f32;
  std::uint32_t bits = 0;          // affine: of one weight: 3, 4 or 8
  std::uint32_t group = 0;         // affine: weights that share a scale and a bias: 32, 64 or 128
  Dtype scale_dtype = Dtype::f16;  // affine: f32, f16 or bf16
  Dtype bias_dtype = Dtype::f16;   // affine: f32, f16 or bf16
  Bytes words;                     // every byte of a row whose scales are not apart
  Bytes scales;                    // mlc_q4: [dim / 32] f16; affine: [dim / group]
  Bytes biases;                    // affine: [dim / group]
};

// Converts one row to the kind that kernel_layout() chose; `words` and `scales` have that layout's bytes a row.
// Every value stays what it was, but for affine scales that f16 rounds (load/convert_affine.hpp). False when the file
// is damaged: a plain value is infinite or not a number, or a scale is, or is too large for f16.
[[nodiscard]] bool convert_row(const RowSource& source, QuantKind kind, MutableBytes words,
                               MutableBytes scales);

// The same for a row whose bytes lie together.
[[nodiscard]] inline bool convert_row(Dtype dtype, QuantKind kind, Bytes source, MutableBytes words,
                                      MutableBytes scales) {
  return convert_row({.dtype = dtype, .words = source}, kind, words, scales);
}

// llama.cpp's converter stores the rows of each q and k head in the order of rotated pairs: row 2j+s holds
// what belongs to row s * head_dim/2 + j. Gives the rotate-half row of the file's row `row`, both inside one
// head.
constexpr std::uint32_t unpermuted_row(std::uint32_t row, std::uint32_t head_dim) {
  return row % 2 * (head_dim / 2) + row / 2;
}

}  // namespace ztvm::load
