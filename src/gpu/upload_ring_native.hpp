#pragma once
// Large writes on their way to GPU buffers: staging memory that is made once and used in turn, so that the device copies
// one slot while the next is filled. wgpuQueueWriteBuffer makes new staging memory for each call.
#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "gpu/webgpu_queue.hpp"

namespace ztvm::gpu {

class UploadRing {
 public:
  UploadRing(WGPUDevice device, WebGpuQueue& queue) : device_(device), queue_(queue) {}
  UploadRing(const UploadRing&) = delete;  // map callbacks know the slots' addresses
  UploadRing& operator=(const UploadRing&) = delete;

  // Takes bytes for `buffer`; waits where all slots are on their way. Offset and length are multiples of 4. After an
  // error of the device the bytes are dropped.
  void write(WGPUBuffer buffer, std::uint64_t offset, Bytes bytes);
  // Drops what waits for a buffer that is about to be destroyed.
  void forget(WGPUBuffer buffer);
  // True while taken bytes wait for flush(), which submits them.
  bool has_waiting() const { return !copies_.empty(); }
  void flush();
  // Frees the staging memory.
  void release();

 private:
  struct Slot {
    BufferPtr buffer;
    std::byte* memory = nullptr;  // none while the device has the slot
    bool is_mapped = false;
    WebGpuQueue::Ticket ticket = 0;
  };
  struct Copy {
    WGPUBuffer buffer = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t slot_offset = 0;
    std::uint64_t n_bytes = 0;
  };
  bool open(Slot& slot);

  WGPUDevice device_;
  WebGpuQueue& queue_;
  std::array<Slot, 3> slots_;
  std::size_t current_ = 0;
  std::uint64_t n_used_ = 0;  // of the current slot
  std::vector<Copy> copies_;  // from the current slot
};

}  // namespace ztvm::gpu
