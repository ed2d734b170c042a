#pragma once
// The adapter that kernel tests run on: one for each process.
#include <cstdlib>
#include <memory>
#include <vector>

#include "gpu/target.hpp"
#include "gpu/webgpu_device.hpp"

namespace ztvm::kernels {

// Part of the name of the adapter to test, from ZTVM_TEST_ADAPTER; empty: the best one.
inline gpu::Device* test_device() {
  static const std::unique_ptr<gpu::Device> device = [] {
    const char* name = std::getenv("ZTVM_TEST_ADAPTER");
    auto opened = gpu::open_webgpu_device({.adapter = name == nullptr ? "" : name});
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
