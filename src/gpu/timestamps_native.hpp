#pragma once
// Times on the GPU's clock, written between the dispatches of a pass and read back as differences.
#include <cstdint>
#include <vector>

#include "gpu/webgpu_queue.hpp"

namespace ztvm::gpu {

class TimestampQueries {
 public:
  // For `n_times` times of a device that can write them inside of passes.
  TimestampQueries(WGPUDevice device, std::uint32_t n_times);

  // The next time, when everything recorded before is done.
  void write(WGPUComputePassEncoder pass) {
    wgpuComputePassEncoderWriteTimestamp(pass, set_.get(), n_written_++);
  }
  bool empty() const { return n_written_ == 0; }
  // Records the copy of all times to where read() finds them.
  void resolve(WGPUCommandEncoder encoder) const;
  // Waits for the queue, then gives the microseconds between one time and the next. Errors: device.
  Result<std::vector<double>> read(WebGpuQueue& queue) const;

 private:
  std::uint32_t n_written_ = 0;
  QuerySetPtr set_;
  BufferPtr resolved_;
  BufferPtr mapped_;
};

}  // namespace ztvm::gpu
