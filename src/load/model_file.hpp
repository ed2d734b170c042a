#pragma once
// A file of named tensors as every loader describes it, whatever its format: where each tensor lies, checked.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::load {

// How the elements of a tensor are stored in its file.
enum class Dtype : std::uint8_t { f32, f16, bf16, q4_0, q4_1, q8_0, q4_k, q5_k, q6_k, mlc_q4, affine };

// Elements are stored in blocks along the innermost dimension; a plain type is a block of one.
struct DtypeInfo {
  std::string_view name;
  std::uint32_t block_elements = 1;
  std::uint32_t block_bytes = 0;  // in all parts; 0 for affine, where bits and group decide
};
const DtypeInfo& info(Dtype dtype);

struct ByteRange {
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t n_bytes = 0;
  std::uint64_t end() const { return offset + n_bytes; }
};

struct TensorRecord {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::uint32_t bits = 0;   // affine: of one weight
  std::uint32_t group = 0;  // affine: weights that share a scale and a bias
  std::vector<std::uint64_t>
      shape;        // row-major: [rows, dim] for a matrix, [dim] for a vector; no dimension is 0
  ByteRange range;  // inside the file, overlaps no other tensor

  std::uint64_t dim() const { return shape.back(); }  // elements a row
  std::uint64_t n_rows() const;  // product of all dimensions but the last; 1 for a vector
};

// One file; a model in several shards is several of these.
struct ModelFile {
  std::string name;  // for errors
  std::uint64_t n_bytes = 0;
  std::vector<TensorRecord> tensors;  // in file order, names are unique

  const TensorRecord* find(std::string_view tensor) const;  // nullptr when there is none
  // The tensor `tensor` with exactly this shape. Errors: not_found, or corrupt_file with both shapes.
  Result<const TensorRecord*> require(std::string_view tensor, std::span<const std::uint64_t> shape) const;
};

// "[580, 96]".
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace ztvm::load
