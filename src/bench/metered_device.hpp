#pragma once
// A device that counts what an engine asks of another one, and the host time spent in it.
#include <functional>

#include "gpu/forwarding_device.hpp"

namespace ztvm::bench {

struct HostCost {
  std::uint64_t n_submits = 0;  // reads included, which submit a copy
  std::uint64_t n_reads = 0;    // one a pass
  std::uint64_t n_dispatches = 0;
  std::uint64_t n_created = 0;  // buffers, pipelines and bindings
  double ms = 0.0;              // recording and handing over; waiting is not in it
};

class MeteredDevice final : public gpu::ForwardingDevice {
 public:
  using Clock = std::function<double()>;  // milliseconds
  MeteredDevice(std::unique_ptr<gpu::Device> device, Clock now_ms)
      : ForwardingDevice(*device), owned_(std::move(device)), now_ms_(std::move(now_ms)) {}
  // Of a device that outlives this one.
  MeteredDevice(gpu::Device& device, Clock now_ms) : ForwardingDevice(device), now_ms_(std::move(now_ms)) {}

  // What was counted since the last call.
  HostCost take_cost();

  Result<gpu::BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override {
    ++cost_.n_created;
    return ForwardingDevice::create_buffer(n_bytes, label);
  }
  void write(gpu::BufferId buffer, std::uint64_t offset, Bytes bytes) override;
  gpu::PipelineId create_pipeline(const gpu::PipelineDesc& desc) override {
    ++cost_.n_created;
    return ForwardingDevice::create_pipeline(desc);
  }
  gpu::BindingsId create_bindings(gpu::PipelineId pipeline, std::span<const gpu::BufferId> buffers) override {
    ++cost_.n_created;
    return ForwardingDevice::create_bindings(pipeline, buffers);
  }
  void submit(std::span<const gpu::Command> commands) override;
  void read(gpu::BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes,
            gpu::ReadCallback callback) override;

 private:
  std::unique_ptr<gpu::Device> owned_;
  Clock now_ms_;
  HostCost cost_;
};

}  // namespace ztvm::bench
