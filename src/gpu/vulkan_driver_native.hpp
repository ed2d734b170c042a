#pragma once
// Keeps the Vulkan driver loaded.

namespace ztvm::gpu {

// The Vulkan loader unloads a driver with the last instance, and NVIDIA's can be loaded only some dozen times in a process:
// its thread-local memory is not given back (driver 580: "cannot allocate memory in static TLS block", and no adapter is
// found). From the first call on, an instance lives as long as the process. Does nothing where there is no Vulkan loader.
void keep_vulkan_driver();

}  // namespace ztvm::gpu
