#pragma once
// A model's named tensors as every loader describes them, whatever the format: in which files their bytes lie,
// checked.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::load {

// How the elements of a tensor are stored. The last two are spread over several parts:
// - mlc_q4: MLC's q4f16_1, value = (nibble - 7) * scale, group 32. Parts: words, scales.
// - affine: MLX's, value = scale * q + bias with q of `bits` bits in `group`s. Parts: words, scales, biases.
enum class Dtype : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  mlc_q4,
  affine
};

// Elements are stored in blocks along the innermost dimension; a plain type is a block of one.
struct DtypeInfo {
  std::string_view name;
  std::uint32_t block_elements = 1;
  std::uint32_t block_bytes = 0;  // in all parts; 0 for affine, where bits and group decide
};
const DtypeInfo& info(Dtype dtype);
// Numbers as they are, without blocks.
constexpr bool is_plain(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

struct ByteRange {
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t n_bytes = 0;
  std::uint64_t end() const { return offset + n_bytes; }
};

// Bytes of one file that hold rows of a tensor one after another, each row as long as the next.
struct TensorPart {
  std::uint32_t file = 0;    // index into Checkpoint::files
  ByteRange range;           // inside the file, overlaps no other
  Dtype dtype = Dtype::f32;  // the tensor's for words; f16, bf16 or f32 for scales and biases
};

struct TensorRecord {
  std::string
      name;  // logical: "X.weight" for MLC's X.q_weight + X.q_scale and MLX's X.weight, .scales, .biases
  Dtype dtype = Dtype::f32;
  std::uint32_t bits = 0;   // of an element, for affine: 2 to 8
  std::uint32_t group = 0;  // elements that share a scale, for mlc_q4 and affine; divides dim()
  // Logical and row-major: [rows, dim], experts [n_experts, rows, dim], a vector [dim]; never empty, none is 0.
  std::vector<std::uint64_t> shape;
  std::vector<TensorPart> parts;  // one; two for mlc_q4; three for affine

  std::uint64_t dim() const { return shape.back(); }  // elements a row
  std::uint64_t n_rows() const;   // product of all dimensions but the last; 1 for a vector
  std::uint64_t n_bytes() const;  // of all parts
};

// "Q4_0"; "affine with 4 bits in groups of 64", where the type alone leaves that open.
std::string type_text(const TensorRecord& tensor);

struct CheckpointFile {
  std::string name;           // inside the model's folder, or the .gguf's own
  std::uint64_t n_bytes = 0;  // that the file has, or that the manifest promises
  std::string md5;            // hexadecimal, where a manifest tells it; else empty
};

// A tensor of a type that no kernel reads: harmless as long as nobody asks for it.
struct SkippedTensor {
  std::string name;
  std::string type;  // as its file writes it
  std::uint32_t file = 0;
};

struct Checkpoint {
  std::string name;  // of the folder or file, for errors
  std::vector<CheckpointFile> files;
  std::vector<TensorRecord> tensors;  // names are unique
  std::vector<SkippedTensor> skipped;

  const TensorRecord* find(std::string_view tensor) const;  // nullptr when there is none
  // The tensor `tensor` with exactly this shape. Errors: not_found, unsupported when it was skipped, or
  // corrupt_file with both shapes.
  Result<const TensorRecord*> require(std::string_view tensor, std::span<const std::uint64_t> shape) const;
  // Where a tensor's words lie, for errors.
  const std::string& file_of(const TensorRecord& tensor) const {
    return files[tensor.parts.front().file].name;
  }
};

// "[580, 96]".
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace ztvm::load
