// Finding adapters and opening a device on one of them.
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "gpu/webgpu_device.hpp"
#include "gpu/webgpu_handles.hpp"

namespace ztvm::gpu {
namespace {

// wgpu-native lists subgroup operations under its own number instead of WGPUFeatureName_Subgroups.
constexpr auto k_subgroups = static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup);

// Between the dispatches of a pass.
constexpr auto k_timestamps = static_cast<WGPUFeatureName>(WGPUNativeFeature_TimestampQueryInsidePasses);

struct Candidate {
  AdapterPtr adapter;
  Caps caps;
};

InstancePtr make_instance() {
  ::setenv("XDG_RUNTIME_DIR", "/tmp",
           /*overwrite=*/0);          // its lack makes the driver's window code print on stderr
  wgpuSetLogLevel(WGPULogLevel_Off);  // errors come back through callbacks, not on a console
  WGPUInstanceExtras extras = {};
  extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
  extras.backends = WGPUInstanceBackend_Vulkan | WGPUInstanceBackend_Metal | WGPUInstanceBackend_DX12;
  WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
  descriptor.nextInChain = &extras.chain;
  return InstancePtr(wgpuCreateInstance(&descriptor));
}

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

Caps caps_of(WGPUAdapter adapter) {
  Caps caps;
  WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
  wgpuAdapterGetInfo(adapter, &info);
  caps.adapter = std::string(from_wgpu(info.device));
  caps.driver = fmt::format("{}, {}", backend_name(info.backendType), from_wgpu(info.description));
  caps.kind = to_kind(info.adapterType);
  caps.compiler = ShaderCompiler::naga;
  caps.f16 = wgpuAdapterHasFeature(adapter, WGPUFeatureName_ShaderF16) != 0;
  caps.subgroups = wgpuAdapterHasFeature(adapter, k_subgroups) != 0;
  caps.subgroup_min = info.subgroupMinSize;
  caps.subgroup_max = info.subgroupMaxSize;
  wgpuAdapterInfoFreeMembers(info);
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
std::vector<Candidate> find_adapters(WGPUInstance instance) {
  std::vector<WGPUAdapter> handles(wgpuInstanceEnumerateAdapters(instance, nullptr, nullptr));
  handles.resize(wgpuInstanceEnumerateAdapters(instance, nullptr, handles.data()));
  std::vector<Candidate> all;
  for (WGPUAdapter handle : handles) all.push_back({AdapterPtr(handle), caps_of(handle)});
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
  if (reason == WGPUDeviceLostReason_Destroyed) return;  // we closed it ourselves
  static_cast<ErrorSlot*>(slot)->store(ErrorCode::device_lost,
                                       fmt::format("The GPU device is lost: {}", from_wgpu(message)));
}

struct DeviceReply {
  WGPUDevice device = nullptr;
  std::string message;
};

void on_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void* reply,
               void*) {
  auto* r = static_cast<DeviceReply*>(reply);
  if (status == WGPURequestDeviceStatus_Success) r->device = device;
  r->message = std::string(from_wgpu(message));
}

}  // namespace

std::vector<Caps> list_webgpu_adapters() {
  const InstancePtr instance = make_instance();
  std::vector<Caps> caps;
  if (!instance) return caps;
  for (const Candidate& candidate : find_adapters(instance.get())) caps.push_back(candidate.caps);
  return caps;
}

Result<std::unique_ptr<Device>> open_webgpu_device(const NativeOptions& options) {
  InstancePtr instance = make_instance();
  if (!instance) return fail(ErrorCode::device, "wgpu-native cannot create a WebGPU instance.");
  auto chosen = choose(find_adapters(instance.get()), options.adapter);
  if (!chosen) return forward(chosen);

  std::vector<WGPUFeatureName> features;
  if (chosen->caps.f16) features.push_back(WGPUFeatureName_ShaderF16);
  if (chosen->caps.subgroups) features.push_back(k_subgroups);
  const bool timestamps =
      options.timestamps && wgpuAdapterHasFeature(chosen->adapter.get(), k_timestamps) != 0;
  if (timestamps) features.insert(features.end(), {WGPUFeatureName_TimestampQuery, k_timestamps});
  const WGPULimits limits = limits_of(chosen->adapter.get());
  auto errors = std::make_unique<ErrorSlot>();
  WGPUDeviceDescriptor descriptor = WGPU_DEVICE_DESCRIPTOR_INIT;
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = &limits;
  descriptor.uncapturedErrorCallbackInfo.callback = on_error;
  descriptor.uncapturedErrorCallbackInfo.userdata1 = errors.get();
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.callback = on_lost;
  descriptor.deviceLostCallbackInfo.userdata1 = errors.get();

  DeviceReply reply;
  WGPURequestDeviceCallbackInfo request = WGPU_REQUEST_DEVICE_CALLBACK_INFO_INIT;
  request.mode = WGPUCallbackMode_AllowSpontaneous;
  request.callback = on_device;
  request.userdata1 = &reply;
  wgpuAdapterRequestDevice(chosen->adapter.get(), &descriptor, request);
  if (reply.device == nullptr) {
    return fail(ErrorCode::device,
                fmt::format("Adapter \"{}\" gives no device: {}", chosen->caps.adapter, reply.message));
  }
  return make_webgpu_device(std::move(instance), DevicePtr(reply.device), std::move(chosen->caps), timestamps,
                            std::move(errors));
}

}  // namespace ztvm::gpu
