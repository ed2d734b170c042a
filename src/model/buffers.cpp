#include "model/buffers.hpp"

namespace ztvm::model {

std::string_view to_string(BufferRole role) {
  switch (role) {
    case BufferRole::weights: return "weights";
    case BufferRole::kv_cache: return "KV cache";
    case BufferRole::state: return "state";
    case BufferRole::scratch: return "scratch";
  }
  return {};
}

Slot Buffers::plan(std::string label, BufferRole role, std::uint64_t n_bytes) {
  check(buffers_.empty(), "buffers are planned before they are allocated");
  planned_.push_back({std::move(label), role, n_bytes});
  return static_cast<Slot>(planned_.size() - 1);
}

Slot Buffers::plan_elements(std::string label, BufferRole role, gpu::Dtype dtype, std::uint64_t n_elements) {
  return plan(std::move(label), role, gpu::dtype_bytes(dtype, n_elements));
}

std::uint64_t Buffers::total_bytes() const {
  std::uint64_t total = 0;
  for (const PlannedBuffer& buffer : planned_) total += buffer.n_bytes;
  return total;
}

std::uint64_t Buffers::total_bytes(BufferRole role) const {
  std::uint64_t total = 0;
  for (const PlannedBuffer& buffer : planned_) total += buffer.role == role ? buffer.n_bytes : 0;
  return total;
}

Result<void> Buffers::allocate(gpu::Device& device) {
  for (const PlannedBuffer& planned : planned_) {
    auto buffer = gpu::make_buffer(device, planned.n_bytes, planned.label);
    if (!buffer) return forward(buffer);
    buffers_.push_back(std::move(*buffer));
  }
  return {};
}

gpu::Tensor Buffers::tensor(Slot slot, gpu::Dtype dtype) const {
  check(static_cast<std::size_t>(slot) < buffers_.size(), "a slot is used after allocation");
  return {buffers_[static_cast<std::size_t>(slot)].id(), dtype};
}

}  // namespace ztvm::model
