#pragma once
// Native devices through webgpu.h. This and its .cpp files are the only code that knows which library provides it
// (wgpu-native; Dawn would go here too).
#include <memory>
#include <string>
#include <vector>

#include "gpu/device.hpp"

namespace ztvm::gpu {

struct NativeOptions {
  // Part of an adapter's name, any case; empty: the first discrete, integrated, other, CPU one.
  std::string adapter;
  bool timestamps = false;  // for Device::time(), where the adapter has them; they slow some drivers
};

// What is there, best first. Empty when no driver is found.
std::vector<Caps> list_webgpu_adapters();

// Opens a device with all limits the adapter has. Errors: device, listing the adapters when the name matches none.
Result<std::unique_ptr<Device>> open_webgpu_device(const NativeOptions& options);

}  // namespace ztvm::gpu
