#pragma once
// Subgroup matrices on an adapter that has none, so that the kernels which use them can be tested: a device whose shaders get
// functions in their place. Where matrices come from and go to, and everything around them, is the shader's own.
#include <string>
#include <string_view>

#include "gpu/forwarding_device.hpp"

namespace ztvm::tests {

// `wgsl` with functions instead of subgroup matrices, as the matmuls use them: loads from arrays of vec4<u32> that hold eight
// f16 each, stores into arrays of f32.
std::string with_software_matrices(std::string_view wgsl);

// Another device, which outlives it, that says it had them.
class SoftwareMatrices final : public gpu::ForwardingDevice {
 public:
  explicit SoftwareMatrices(gpu::Device& device) : ForwardingDevice(device), caps_(device.caps()) {
    caps_.subgroup_matrix = true;
  }

  const gpu::Caps& caps() const override { return caps_; }
  gpu::PipelineId create_pipeline(const gpu::PipelineDesc& desc) override {
    const std::string wgsl = with_software_matrices(desc.wgsl);
    return ForwardingDevice::create_pipeline({.label = desc.label, .wgsl = wgsl, .access = desc.access});
  }

 private:
  gpu::Caps caps_;
};

}  // namespace ztvm::tests
