#pragma once
// The adapter that tests run on.
#include <cstdlib>
#include <string_view>

#include "gpu/webgpu_device.hpp"

namespace ztvm {

// By ZTVM_TEST_ADAPTER, part of its name, and ZTVM_TEST_WEBGPU, the library; unset: what users get.
inline gpu::NativeOptions test_adapter() {
  gpu::NativeOptions options;
  if (const char* name = std::getenv("ZTVM_TEST_ADAPTER")) options.adapter = name;
  if (const char* library = std::getenv("ZTVM_TEST_WEBGPU")) {
    while (gpu::k_webgpu_library_names.at(static_cast<std::size_t>(options.library)) != library) {
      options.library = static_cast<gpu::WebGpuLibrary>(static_cast<int>(options.library) + 1);
    }
  }
  return options;
}

}  // namespace ztvm
