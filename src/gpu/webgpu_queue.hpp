#pragma once
// A device's queue, for the native device's files; each library that provides webgpu.h waits in its own way.
#include <cstdint>

#include "gpu/webgpu_handles.hpp"

namespace ztvm::gpu {

// Hands work over and waits for it.
class WebGpuQueue {
 public:
  // What to wait for: a submission of wgpu-native, a future of Dawn.
  using Ticket = std::uint64_t;

  virtual ~WebGpuQueue() = default;
  virtual WGPUQueue handle() const = 0;
  virtual void submit(WGPUCommandBuffer commands) = 0;
  // Maps a buffer's first bytes once what is submitted so far is done; poll() and wait() run the callback.
  virtual Ticket map(WGPUBuffer buffer, WGPUMapMode mode, std::uint64_t n_bytes,
                     const WGPUBufferMapCallbackInfo& callback) = 0;
  virtual void poll() = 0;
  virtual void wait(Ticket ticket) = 0;
  virtual void wait_for_all() = 0;
  virtual double ns_per_tick() const = 0;  // of timestamps
};

}  // namespace ztvm::gpu
