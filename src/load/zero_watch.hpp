#pragma once
// Finds tensors with space that was reserved for a download, and never written.
//
// Rule: a tensor is refused when all bytes of its words, its scales or its biases are zero once the last of them was
// read, and when its words have a hole (ZeroHoles). No trained matrix is all zero or has one level only, nor has a norm
// whose weights are all zero: files store what the channel is multiplied with, 1 + w where training has w.
// Nor has a norm zeros for more than half of its weights, if they are k_vector_values or more, or 4096 zero bytes one
// after another; it is refused, too. Vectors that are added, or of which an exponential is taken, may be zero (UploadStep::may_be_zero).
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "load/upload_plan.hpp"
#include "load/zero_holes.hpp"

namespace ztvm::load {

class ZeroWatch {
 public:
  static constexpr std::size_t k_vector_values = 64;

  // `steps` are all that will be supplied, in this order.
  explicit ZeroWatch(std::span<const UploadStep> steps);

  // The bytes of step number `index`, one span for each source. Error: corrupt_file, naming file and tensor.
  Result<void> see(std::size_t index, const UploadStep& step, std::span<const Bytes> sources,
                   std::span<const CheckpointFile> files);

 private:
  static constexpr std::size_t k_most_parts = 3;
  struct TensorState {
    std::uint64_t n_steps = 0;  // still to come
    std::array<std::uint64_t, k_most_parts> n_zero_bytes = {};
    std::array<bool, k_most_parts> has_values = {};
  };
  std::vector<std::uint32_t> tensor_of_step_;  // index into tensors_
  std::vector<TensorState> tensors_;
  ZeroHoles holes_;
};

}  // namespace ztvm::load
