// Finding adapters and opening a device on one of them.
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <optional>

#include "gpu/target.hpp"
#include "gpu/vulkan_driver_native.hpp"
#include "gpu/webgpu_provider.hpp"

namespace ztvm::gpu {
namespace {

struct Candidate {
  AdapterPtr adapter;
  Caps caps;
};

AdapterKind to_kind(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU: return AdapterKind::discrete;
    case WGPUAdapterType_IntegratedGPU: return AdapterKind::integrated;
    case WGPUAdapterType_CPU: return AdapterKind::cpu;
    default: return AdapterKind::unknown;
  }
}

std::string_view backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan: return "Vulkan";
    case WGPUBackendType_Metal: return "Metal";
    case WGPUBackendType_D3D12: return "D3D12";
    default: return "WebGPU";
  }
}

WGPULimits limits_of(WGPUAdapter adapter) {
  WGPULimits limits = WGPU_LIMITS_INIT;
  wgpuAdapterGetLimits(adapter, &limits);
  return limits;
}

Caps caps_of(const WebGpuProvider& provider, WGPUAdapter adapter) {
  Caps caps;
  WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
  wgpuAdapterGetInfo(adapter, &info);
  caps.adapter = std::string(from_wgpu(info.device));
  caps.driver = fmt::format("{}, {}", backend_name(info.backendType), from_wgpu(info.description));
  caps.kind = to_kind(info.adapterType);
  caps.f16 = wgpuAdapterHasFeature(adapter, WGPUFeatureName_ShaderF16) != 0;
  caps.subgroup_min = info.subgroupMinSize;
  caps.subgroup_max = info.subgroupMaxSize;
  wgpuAdapterInfoFreeMembers(info);
  provider.add_caps(adapter, caps);
  const WGPULimits limits = limits_of(adapter);
  caps.max_buffer_bytes = limits.maxBufferSize;
  caps.max_binding_bytes = limits.maxStorageBufferBindingSize;
  caps.max_bindings = limits.maxStorageBuffersPerShaderStage;
  caps.max_workgroup_bytes = limits.maxComputeWorkgroupStorageSize;
  caps.max_workgroup_invocations = limits.maxComputeInvocationsPerWorkgroup;
  caps.max_workgroups = limits.maxComputeWorkgroupsPerDimension;
  return caps;
}

// Best kind first; the driver's order within a kind.
std::vector<Candidate> find_adapters(const WebGpuProvider& provider, WGPUInstance instance) {
  std::vector<Candidate> all;
  for (AdapterPtr& adapter : provider.adapters(instance)) {
    Caps caps = caps_of(provider, adapter.get());
    all.push_back({std::move(adapter), std::move(caps)});
  }
  std::vector<Candidate> sorted;
  for (const AdapterKind kind :
       {AdapterKind::discrete, AdapterKind::integrated, AdapterKind::unknown, AdapterKind::cpu}) {
    for (Candidate& candidate : all) {
      if (candidate.adapter && candidate.caps.kind == kind) sorted.push_back(std::move(candidate));
    }
  }
  return sorted;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Result<Candidate> choose(std::vector<Candidate> found, const std::string& name) {
  if (found.empty()) {
    return fail(ErrorCode::device,
                "No Vulkan, Metal or D3D12 adapter is found; install a driver (on Debian without a GPU: "
                "mesa-vulkan-drivers), or use --backend reference.");
  }
  std::string names;
  for (Candidate& candidate : found) {
    if (lower(candidate.caps.adapter).find(lower(name)) != std::string::npos) return std::move(candidate);
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", candidate.caps.adapter);
  }
  return fail(ErrorCode::device,
              fmt::format("No adapter's name contains \"{}\"; there are {}.", name, names));
}

void on_error(WGPUDevice const*, WGPUErrorType type, WGPUStringView message, void* slot, void*) {
  const ErrorCode code = type == WGPUErrorType_OutOfMemory ? ErrorCode::out_of_memory : ErrorCode::device;
  static_cast<ErrorSlot*>(slot)->store(code, from_wgpu(message));
}

void on_lost(WGPUDevice const*, WGPUDeviceLostReason reason, WGPUStringView message, void* slot, void*) {
  if (reason == WGPUDeviceLostReason_Destroyed || reason == WGPUDeviceLostReason_CallbackCancelled)
    return;  // we closed it ourselves
  static_cast<ErrorSlot*>(slot)->store(ErrorCode::device_lost,
                                       fmt::format("The GPU device is lost: {}", from_wgpu(message)));
}

// An adapter and what it came from, in the order in which they are made.
struct Found {
  std::shared_ptr<const WebGpuProvider> provider;
  InstancePtr instance;
  Candidate chosen;
};

// The provider of the devices that live. Its functions are one table for the whole process.
std::weak_ptr<const WebGpuProvider>& in_use() {
  static std::weak_ptr<const WebGpuProvider> provider;
  return provider;
}

Result<std::shared_ptr<const WebGpuProvider>> load(WebGpuLibrary library) {
  ::setenv("XDG_RUNTIME_DIR", "/tmp",
           /*overwrite=*/0);  // its lack makes the driver's window code print on stderr
  keep_vulkan_driver();
  const WebGpuProvider& provider = library == WebGpuLibrary::dawn ? dawn_provider() : wgpu_native_provider();
  if (auto used = in_use().lock()) {
    if (library == WebGpuLibrary::automatic || used.get() == &provider) return used;
    return fail(ErrorCode::unsupported, fmt::format("{} cannot be used beside {}, which has a device open.",
                                                    provider.name(), used->name()));
  }
  if (auto loaded = provider.load(); !loaded) return forward(loaded);
  return std::shared_ptr<const WebGpuProvider>(&provider, [](const WebGpuProvider*) {});
}

Result<Found> find(WebGpuLibrary library, const std::string& adapter) {
  auto provider = load(library);
  if (!provider) return forward(provider);
  InstancePtr instance = (*provider)->make_instance();
  if (!instance) {
    return fail(ErrorCode::device, fmt::format("{} cannot create a WebGPU instance.", (*provider)->name()));
  }
  auto chosen = choose(find_adapters(**provider, instance.get()), adapter);
  if (!chosen) return forward(chosen);
  return Found{std::move(*provider), std::move(instance), std::move(*chosen)};
}

// The name of an adapter that Dawn, which is there, may have matrices for, where wgpu-native has not.
std::optional<std::string> worth_dawn(const Found& found) {
  if (!found.provider->lacks_matrices(found.chosen.adapter.get())) return std::nullopt;
  if (!dawn_provider().is_there()) return std::nullopt;
  return found.chosen.caps.adapter;
}

Result<Found> find_best(const std::string& adapter) {
  std::optional<std::string> name;
  {
    auto found = find(WebGpuLibrary::automatic, adapter);
    if (!found) return found;
    name = worth_dawn(*found);
    if (!name || !in_use().expired()) return found;
  }  // nothing of a library may live while the other is loaded
  {
    auto found = find(WebGpuLibrary::dawn, *name);
    if (found && choose_target(found->chosen.caps).matrices) return found;
  }
  return find(WebGpuLibrary::wgpu_native, adapter);
}

}  // namespace

std::vector<Caps> list_webgpu_adapters(WebGpuLibrary library) {
  std::vector<Caps> caps;
  const auto provider = load(library);
  if (!provider) return caps;
  const InstancePtr instance = (*provider)->make_instance();
  if (!instance) return caps;
  for (Candidate& candidate : find_adapters(**provider, instance.get())) {
    caps.push_back(std::move(candidate.caps));
  }
  return caps;
}

Result<std::unique_ptr<Device>> open_webgpu_device(const NativeOptions& options) {
  auto found = options.library == WebGpuLibrary::automatic ? find_best(options.adapter)
                                                           : find(options.library, options.adapter);
  if (!found) return forward(found);
  const WebGpuProvider& provider = *found->provider;
  const WGPUAdapter adapter = found->chosen.adapter.get();
  Caps& caps = found->chosen.caps;
  const bool timestamps = options.timestamps && provider.has_timestamps(adapter);
  const WGPULimits limits = limits_of(adapter);
  auto errors = std::make_unique<ErrorSlot>();
  WGPUDeviceDescriptor descriptor = WGPU_DEVICE_DESCRIPTOR_INIT;
  descriptor.requiredLimits = &limits;
  descriptor.uncapturedErrorCallbackInfo.callback = on_error;
  descriptor.uncapturedErrorCallbackInfo.userdata1 = errors.get();
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.callback = on_lost;
  descriptor.deviceLostCallbackInfo.userdata1 = errors.get();
  std::string failure;
  DevicePtr device =
      provider.request_device(found->instance.get(), adapter, descriptor, caps, timestamps, failure);
  if (!device) {
    return fail(ErrorCode::device, fmt::format("Adapter \"{}\" gives no device: {}", caps.adapter, failure));
  }
  in_use() = found->provider;
  return make_webgpu_device(std::move(found->provider), std::move(found->instance), std::move(device),
                            std::move(caps), timestamps, std::move(errors));
}

}  // namespace ztvm::gpu
