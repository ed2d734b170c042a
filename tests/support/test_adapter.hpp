#pragma once
// The adapter that tests run on.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "gpu/webgpu_device.hpp"

namespace ztvm {

// By ZTVM_TEST_ADAPTER, part of its name, and ZTVM_TEST_WEBGPU, the library; unset: what users get.
inline gpu::NativeOptions test_adapter() {
  gpu::NativeOptions options;
  if (const char* name = std::getenv("ZTVM_TEST_ADAPTER")) options.adapter = name;
  if (const char* library = std::getenv("ZTVM_TEST_WEBGPU")) {
    const auto found = std::ranges::find(gpu::k_webgpu_library_names, std::string_view(library));
    check(found != gpu::k_webgpu_library_names.end(), "ZTVM_TEST_WEBGPU names a library");
    options.library = static_cast<gpu::WebGpuLibrary>(found - gpu::k_webgpu_library_names.begin());
  }
  return options;
}

}  // namespace ztvm
