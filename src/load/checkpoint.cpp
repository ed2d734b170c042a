#include "load/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/in_quotes.hpp"

namespace ztvm::load {

const DtypeInfo& info(Dtype dtype) {
  static constexpr std::array<DtypeInfo, 13> k_infos = {{
      {.name = "F32", .block_elements = 1, .block_bytes = 4},
      {.name = "F16", .block_elements = 1, .block_bytes = 2},
      {.name = "BF16", .block_elements = 1, .block_bytes = 2},
      {.name = "Q4_0", .block_elements = 32, .block_bytes = 18},
      {.name = "Q4_1", .block_elements = 32, .block_bytes = 20},
      {.name = "Q5_0", .block_elements = 32, .block_bytes = 22},
      {.name = "Q5_1", .block_elements = 32, .block_bytes = 24},
      {.name = "Q8_0", .block_elements = 32, .block_bytes = 34},
      {.name = "Q4_K", .block_elements = 256, .block_bytes = 144},
      {.name = "Q5_K", .block_elements = 256, .block_bytes = 176},
      {.name = "Q6_K", .block_elements = 256, .block_bytes = 210},
      {.name = "q4f16_1", .block_elements = 32, .block_bytes = 18},
      {.name = "affine", .block_elements = 32, .block_bytes = 0},
  }};
  return k_infos[static_cast<std::size_t>(dtype)];
}

std::string type_text(const TensorRecord& tensor) {
  if (tensor.dtype != Dtype::affine) return std::string(info(tensor.dtype).name);
  return fmt::format("affine with {} bits in groups of {}", tensor.bits, tensor.group);
}

std::uint64_t TensorRecord::n_rows() const {
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

std::uint64_t TensorRecord::n_bytes() const {
  std::uint64_t n_bytes = 0;
  for (const TensorPart& part : parts) n_bytes += part.range.n_bytes;
  return n_bytes;
}

const TensorRecord* Checkpoint::find(std::string_view tensor) const {
  const auto found = std::ranges::find(tensors, tensor, &TensorRecord::name);
  return found == tensors.end() ? nullptr : &*found;
}

Result<const TensorRecord*> Checkpoint::require(std::string_view tensor,
                                                std::span<const std::uint64_t> shape) const {
  const TensorRecord* found = find(tensor);
  if (found == nullptr) {
    const auto other = std::ranges::find(skipped, tensor, &SkippedTensor::name);
    if (other != skipped.end()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("Tensor {} has the type {}, which no kernel reads, in {}.", in_quotes(tensor),
                              printable(other->type), files[other->file].name));
    }
    return fail(ErrorCode::not_found, fmt::format("{} has no tensor {}, expected one of shape {}.", name,
                                                  in_quotes(tensor), shape_text(shape)));
  }
  if (!std::ranges::equal(found->shape, shape)) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor {} has shape {}, expected {}, in {}.", in_quotes(tensor),
                            shape_text(found->shape), shape_text(shape), file_of(*found)));
  }
  return found;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace ztvm::load
