#pragma once
// A device that hands everything on to another one: for those that change or watch a part of it.
#include "gpu/device.hpp"

namespace ztvm::gpu {

class ForwardingDevice : public Device {
 public:
  HostDevice* as_host() override { return device_.as_host(); }
  const Caps& caps() const override { return device_.caps(); }
  Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override {
    return device_.create_buffer(n_bytes, label);
  }
  std::uint64_t n_bytes(BufferId buffer) const override { return device_.n_bytes(buffer); }
  void write(BufferId buffer, std::uint64_t offset, Bytes bytes) override {
    device_.write(buffer, offset, bytes);
  }
  PipelineId create_pipeline(const PipelineDesc& desc) override { return device_.create_pipeline(desc); }
  BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) override {
    return device_.create_bindings(pipeline, buffers);
  }
  void destroy(BufferId buffer) override { device_.destroy(buffer); }
  void destroy(PipelineId pipeline) override { device_.destroy(pipeline); }
  void destroy(BindingsId bindings) override { device_.destroy(bindings); }
  void submit(std::span<const Command> commands) override { device_.submit(commands); }
  Result<std::vector<double>> time(std::span<const Command> commands, Timed timed) override {
    return device_.time(commands, timed);
  }
  void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) override {
    device_.read(buffer, offset, n_bytes, std::move(callback));
  }
  Result<void> poll(bool wait) override { return device_.poll(wait); }
  std::size_t n_pending() const override { return device_.n_pending(); }

 protected:
  // The other device outlives this one's use.
  explicit ForwardingDevice(Device& device) : device_(device) {}
  Device& device_;
};

}  // namespace ztvm::gpu
