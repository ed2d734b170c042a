// wgpu-native: https://github.com/gfx-rs/wgpu-native, whose own functions are in wgpu.h.
#include "gpu/webgpu_provider.hpp"

namespace ztvm::gpu {
namespace {

// It lists subgroup operations under its own number instead of WGPUFeatureName_Subgroups.
constexpr auto k_subgroups = static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup);

// One of wgpu's experimental features, which wgpu-native 29 does not let a device have.
constexpr auto k_cooperative_matrix = static_cast<WGPUFeatureName>(WGPUNativeFeature_CooperativeMatrix);

// Between the dispatches of a pass.
constexpr auto k_timestamps = static_cast<WGPUFeatureName>(WGPUNativeFeature_TimestampQueryInsidePasses);

class WgpuQueue final : public WebGpuQueue {
 public:
  explicit WgpuQueue(WGPUDevice device) : device_(device), queue_(wgpuDeviceGetQueue(device)) {}
  WGPUQueue handle() const override { return queue_.get(); }
  void submit(WGPUCommandBuffer commands) override {
    last_ = ::wgpuQueueSubmitForIndex(queue_.get(), 1, &commands);
  }
  Ticket map(WGPUBuffer buffer, WGPUMapMode mode, std::uint64_t n_bytes,
             const WGPUBufferMapCallbackInfo& callback) override {
    wgpuBufferMapAsync(buffer, mode, 0, n_bytes, callback);
    return last_;
  }
  void poll() override { ::wgpuDevicePoll(device_, false, nullptr); }
  void wait(Ticket ticket) override {
    const WGPUSubmissionIndex submission = ticket;
    ::wgpuDevicePoll(device_, true, &submission);
  }
  void wait_for_all() override { ::wgpuDevicePoll(device_, true, nullptr); }
  double ns_per_tick() const override { return ::wgpuQueueGetTimestampPeriod(queue_.get()); }

 private:
  WGPUDevice device_;
  QueuePtr queue_;
  WGPUSubmissionIndex last_ = 0;
};

class WgpuNative final : public WebGpuProvider {
 public:
  std::string_view name() const override { return "wgpu-native"; }

  bool is_there() const override { return true; }

  Result<void> load() const override {
#define ZTVM_RESET(name) wgpu##name = &::wgpu##name;
    ZTVM_WEBGPU_FUNCTIONS(ZTVM_RESET)
#undef ZTVM_RESET
    return {};
  }

  InstancePtr make_instance() const override {
    ::wgpuSetLogLevel(WGPULogLevel_Off);  // errors come back through callbacks, not on a console
    WGPUInstanceExtras extras = {};
    extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
    extras.backends = WGPUInstanceBackend_Vulkan | WGPUInstanceBackend_Metal | WGPUInstanceBackend_DX12;
    WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
    descriptor.nextInChain = &extras.chain;
    return InstancePtr(wgpuCreateInstance(&descriptor));
  }

  std::vector<AdapterPtr> adapters(WGPUInstance instance) const override {
    std::vector<WGPUAdapter> handles(::wgpuInstanceEnumerateAdapters(instance, nullptr, nullptr));
    handles.resize(::wgpuInstanceEnumerateAdapters(instance, nullptr, handles.data()));
    std::vector<AdapterPtr> all;
    for (WGPUAdapter handle : handles) all.emplace_back(handle);
    return all;
  }

  void add_caps(WGPUAdapter adapter, Caps& caps) const override {
    caps.compiler = ShaderCompiler::naga;
    caps.subgroups = wgpuAdapterHasFeature(adapter, k_subgroups) != 0;
  }

  bool lacks_matrices(WGPUAdapter adapter) const override {
    return wgpuAdapterHasFeature(adapter, k_cooperative_matrix) != 0;
  }

  bool has_timestamps(WGPUAdapter adapter) const override {
    return wgpuAdapterHasFeature(adapter, k_timestamps) != 0;
  }

  DevicePtr request_device(WGPUInstance, WGPUAdapter adapter, WGPUDeviceDescriptor descriptor,
                           const Caps& caps, bool timestamps, std::string& failure) const override {
    std::vector<WGPUFeatureName> features;
    if (caps.f16) features.push_back(WGPUFeatureName_ShaderF16);
    if (caps.subgroups) features.push_back(k_subgroups);
    if (timestamps) features.insert(features.end(), {WGPUFeatureName_TimestampQuery, k_timestamps});
    descriptor.requiredFeatureCount = features.size();
    descriptor.requiredFeatures = features.data();
    Reply<WGPUDevice> reply;
    WGPURequestDeviceCallbackInfo request = WGPU_REQUEST_DEVICE_CALLBACK_INFO_INIT;
    request.mode = WGPUCallbackMode_AllowSpontaneous;
    request.callback = decltype(reply)::take;
    request.userdata1 = &reply;
    wgpuAdapterRequestDevice(adapter, &descriptor, request);
    failure = std::move(reply.message);
    return DevicePtr(reply.handle);
  }

  Result<PipelinePtr> compile(WGPUInstance, WGPUDevice device, const PipelineJob& job) const override {
    const ShaderText text(job);
    // The kernels are this project's own and end: counting the rounds of every loop cost 15 % of decode and half of
    // prefill. Indices stay checked.
    const ShaderPtr module(::wgpuDeviceCreateShaderModuleTrusted(device, &text.descriptor,
                                                                 WGPUShaderRuntimeChecks_BoundsChecks));
    const WGPUComputePipelineDescriptor descriptor = pipeline_descriptor(job, module.get());
    return PipelinePtr(wgpuDeviceCreateComputePipeline(device, &descriptor));
  }

  std::unique_ptr<WebGpuQueue> make_queue(WGPUInstance, WGPUDevice device) const override {
    return std::make_unique<WgpuQueue>(device);
  }
};

}  // namespace

const WebGpuProvider& wgpu_native_provider() {
  static const WgpuNative provider;
  return provider;
}

}  // namespace ztvm::gpu
