#pragma once
// The tensor table of a GGUF header.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "load/checkpoint.hpp"
#include "load/gguf_cursor.hpp"

namespace ztvm::load {

// Reads `n_tensors` entries. Offsets are still those of the file: relative to the start of the tensor data.
// The cursor keeps the error: a name that is empty, too long or not unique, a number of dimensions other than
// 1 to 4, a dimension of 0 or that breaks a block, a type that is unknown or that this engine has no kernels
// for.
std::vector<TensorRecord> read_gguf_tensors(GgufCursor& cursor, std::uint64_t n_tensors);

struct TensorArea {
  std::string_view file;
  std::uint64_t n_file_bytes = 0;
  std::uint64_t first_byte = 0;  // where tensor data starts
  std::uint64_t alignment = 32;
};

// Makes offsets count from the start of the file and sorts by them.
// Errors: corrupt_file for an offset that is not aligned, a range that leaves the file or overlaps another.
Result<void> place_gguf_tensors(std::vector<TensorRecord>& tensors, const TensorArea& area);

}  // namespace ztvm::load
