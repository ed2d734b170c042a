#pragma once
// Every buffer of a model, planned before any is made: the memory plan that people see, then the allocation.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/op.hpp"

namespace ztvm::model {

// What a buffer is for; memory is reported by it.
enum class BufferRole : std::uint8_t { weights, kv_cache, state, scratch };
std::string_view to_string(BufferRole role);

enum class Slot : std::uint32_t {};

struct PlannedBuffer {
  std::string label;
  BufferRole role = BufferRole::scratch;
  std::uint64_t n_bytes = 0;
};

class Buffers {
 public:
  Slot plan(std::string label, BufferRole role, std::uint64_t n_bytes);
  Slot plan_elements(std::string label, BufferRole role, gpu::Dtype dtype, std::uint64_t n_elements);

  std::span<const PlannedBuffer> planned() const { return planned_; }
  std::uint64_t total_bytes() const;
  std::uint64_t total_bytes(BufferRole role) const;

  // Makes all of them. Errors: out_of_memory, naming the buffer, its bytes and the adapter's limit.
  Result<void> allocate(gpu::Device& device);
  // A view of an allocated buffer.
  gpu::Tensor tensor(Slot slot, gpu::Dtype dtype) const;

 private:
  std::vector<PlannedBuffer> planned_;
  std::vector<gpu::Buffer> buffers_;
};

}  // namespace ztvm::model
