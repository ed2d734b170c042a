#pragma once
// Subgroup matrices on an adapter that has none, so that the kernels which use them can be tested: a device whose shaders get
// functions in their place. Where matrices come from and go to, and everything around them, is the shader's own.
#include "gpu/device.hpp"

namespace ztvm::tests {

// `wgsl` with functions instead of subgroup matrices, as the matmuls use them: loads from arrays of vec4<u32> that hold eight
// f16 each, stores into arrays of f32.
std::string with_software_matrices(std::string_view wgsl);

// Another device, which outlives it, that says it had them.
class SoftwareMatrices final : public gpu::Device {
 public:
  explicit SoftwareMatrices(gpu::Device& device) : device_(device), caps_(device.caps()) {
    caps_.subgroup_matrix = true;
  }

  const gpu::Caps& caps() const override { return caps_; }
  Result<gpu::BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override {
    return device_.create_buffer(n_bytes, label);
  }
  std::uint64_t n_bytes(gpu::BufferId buffer) const override { return device_.n_bytes(buffer); }
  void write(gpu::BufferId buffer, std::uint64_t offset, Bytes bytes) override {
    device_.write(buffer, offset, bytes);
  }
  gpu::PipelineId create_pipeline(const gpu::PipelineDesc& desc) override {
    const std::string wgsl = with_software_matrices(desc.wgsl);
    return device_.create_pipeline({.label = desc.label, .wgsl = wgsl, .access = desc.access});
  }
  gpu::BindingsId create_bindings(gpu::PipelineId pipeline, std::span<const gpu::BufferId> buffers) override {
    return device_.create_bindings(pipeline, buffers);
  }
  void destroy(gpu::BufferId buffer) override { device_.destroy(buffer); }
  void destroy(gpu::PipelineId pipeline) override { device_.destroy(pipeline); }
  void destroy(gpu::BindingsId bindings) override { device_.destroy(bindings); }
  void submit(std::span<const gpu::Command> commands) override { device_.submit(commands); }
  void read(gpu::BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes,
            gpu::ReadCallback callback) override {
    device_.read(buffer, offset, n_bytes, std::move(callback));
  }
  Result<void> poll(bool wait) override { return device_.poll(wait); }
  std::size_t n_pending() const override { return device_.n_pending(); }

 private:
  gpu::Device& device_;
  gpu::Caps caps_;
};

}  // namespace ztvm::tests
