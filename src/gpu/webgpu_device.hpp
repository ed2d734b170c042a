#pragma once
// Native devices through webgpu.h, which one of two libraries provides. webgpu_provider.hpp and its .cpp files are the only
// code that knows their differences.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device.hpp"

namespace ztvm::gpu {

enum class WebGpuLibrary : std::uint8_t { automatic, wgpu_native, dawn };
inline constexpr std::array<std::string_view, 3> k_webgpu_library_names = {"auto", "wgpu-native", "dawn"};

struct NativeOptions {
  // Part of an adapter's name, any case; empty: the first discrete, integrated, other, CPU one.
  std::string adapter;
  // Automatic: wgpu-native, but Dawn where it is there and gives the adapter subgroup matrices.
  WebGpuLibrary library = WebGpuLibrary::automatic;
  bool timestamps = false;  // for Device::time(), where the adapter has them; they slow some drivers
};

// What there is for a library, or for one in use, best first. Empty when no driver is found, or no library.
std::vector<Caps> list_webgpu_adapters(WebGpuLibrary library = WebGpuLibrary::automatic);

// Opens a device with all limits the adapter has. While one lives, all are opened by its library. Errors: device, listing
// the adapters when the name matches none; unsupported, when the library is not there, or another is in use.
Result<std::unique_ptr<Device>> open_webgpu_device(const NativeOptions& options);

}  // namespace ztvm::gpu
