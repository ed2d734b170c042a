#pragma once
// A device without a GPU: buffers in host memory, for the reference executor and for recording plans in tests.
#include <memory>
#include <vector>

#include "gpu/device.hpp"

namespace ztvm::gpu {

class HostDevice final : public Device {
 public:
  HostDevice();

  HostDevice* as_host() override { return this; }
  const Caps& caps() const override { return caps_; }
  Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override;
  std::uint64_t n_bytes(BufferId buffer) const override {
    return buffers_[static_cast<std::size_t>(buffer) - 1].size();
  }
  void write(BufferId buffer, std::uint64_t offset, Bytes bytes) override;
  PipelineId create_pipeline(const PipelineDesc& desc) override;
  BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) override;
  void destroy(BufferId buffer) override;
  void destroy(PipelineId) override {}
  void destroy(BindingsId) override {}
  void submit(std::span<const Command> commands) override;  // copies only; it cannot run shaders
  void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) override;
  Result<void> poll(bool) override { return {}; }
  std::size_t n_pending() const override { return 0; }

  // The memory of a buffer, for oracles.
  MutableBytes memory(BufferId buffer);

  Caps& mutable_caps() { return caps_; }  // tests make adapters with other limits

 private:
  Caps caps_;
  std::vector<std::vector<std::byte>> buffers_;
  std::uint32_t n_pipelines_ = 0;
  std::uint32_t n_bindings_ = 0;
};

std::unique_ptr<HostDevice> make_host_device();

}  // namespace ztvm::gpu
