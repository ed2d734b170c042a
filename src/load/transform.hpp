#pragma once
// From the layouts of files to the layout of GPU buffers (base/quant_layout.hpp), row by row.
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/quant_layout.hpp"
#include "load/checkpoint.hpp"

namespace ztvm::load {

// The buffer layout that a tensor becomes. A matrix keeps its precision: F32 f32, F16 f16, Q8_0 q8, Q4_0 and
// Q4_1 q4; a vector (norm weights, biases) becomes one row of f32. Errors: unsupported for a quantised
// vector, for more than two dimensions, a matrix whose dim is no multiple of 32, more than 2^32 - 1 rows, or
// a row of more than 64 MiB.
Result<QuantLayout> kernel_layout(const TensorRecord& tensor, std::string_view file);

// Converts one row. `source` is the row as the file has it, `words` and `scales` have the layout's bytes a
// row. Q4_0's d * (q - 8) becomes m = -8 * d, which f16 holds exactly unless it overflows. False when a scale
// is infinite or not a number, or when -8 * d overflows: the file is damaged.
[[nodiscard]] bool convert_row(Dtype dtype, QuantKind kind, Bytes source, MutableBytes words,
                               MutableBytes scales);

// llama.cpp's converter stores the rows of each q and k head in the order of rotated pairs: row 2j+s holds
// what belongs to row s * head_dim/2 + j. Gives the rotate-half row of the file's row `row`, both inside one
// head.
constexpr std::uint32_t unpermuted_row(std::uint32_t row, std::uint32_t head_dim) {
  return row % 2 * (head_dim / 2) + row / 2;
}

}  // namespace ztvm::load
