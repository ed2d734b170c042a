#pragma once
// The adapter that kernel tests run on: one for each process.
#include <memory>
#include <vector>

#include "gpu/target.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::kernels {

inline gpu::Device* test_device() {
  static const std::unique_ptr<gpu::Device> device = [] {
    auto opened = gpu::open_webgpu_device(test_adapter());
    return opened ? std::move(*opened) : nullptr;
  }();
  return device.get();
}

// The kernel sets that the device can run; those with 8-bit activations, where a kernel is the same, only if asked for.
inline std::vector<gpu::Target> test_targets(const gpu::Device& device, bool with_int8 = false) {
  std::vector<gpu::Target> targets;
  for (const gpu::Target& target : gpu::k_all_targets) {
    if (gpu::supports(device.caps(), target) && (with_int8 || !target.int8)) targets.push_back(target);
  }
  return targets;
}

}  // namespace ztvm::kernels
