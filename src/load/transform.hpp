#pragma once
// From the layouts of files to the layout of GPU buffers (base/quant_layout.hpp), row by row.
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/quant_layout.hpp"
#include "load/checkpoint.hpp"

namespace ztvm::load {

// The buffer layout that a tensor becomes. A matrix keeps its precision: F32 f32, F16 f16, Q8_0 q8, Q4_0,
// Q4_1, q4f16_1 and affine of 4 bits q4; experts [n_experts, rows, dim] are n_experts * rows rows; a vector
// becomes one row of f32. Errors: unsupported for a quantised vector, for more than three dimensions, a type
// without a layout, a matrix whose dim is no multiple of 32, more than 2^32 - 1 rows, or a row of more than
// 64 MiB.
Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file);

// One row as the files have it.
struct RowSource {
  Dtype dtype = Dtype::f32;
  std::uint32_t bits = 0;   // of TensorRecord
  std::uint32_t group = 0;  // of TensorRecord
  Dtype scale_dtype = Dtype::f16;
  Dtype bias_dtype = Dtype::f16;
  Bytes words;
  Bytes scales;  // empty unless the type has them in a part of their own
  Bytes biases;
};

// Converts one row; `words` and `scales` have the layout's bytes a row. False when a scale is infinite, not a
// number, or too large for f16: the file is damaged.
[[nodiscard]] bool convert_row(const RowSource& source, QuantKind kind, MutableBytes words,
                               MutableBytes scales);

// llama.cpp's converter stores the rows of each q and k head in the order of rotated pairs: row 2j+s holds
// what belongs to row s * head_dim/2 + j. Gives the rotate-half row of the file's row `row`, both inside one
// head.
constexpr std::uint32_t unpermuted_row(std::uint32_t row, std::uint32_t head_dim) {
  return row % 2 * (head_dim / 2) + row / 2;
}

}  // namespace ztvm::load
