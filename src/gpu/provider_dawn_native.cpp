// Dawn: https://dawn.googlesource.com/dawn, out of any shared library that has its C interface. What webgpu.h lacks is
// declared here, as src/dawn/dawn.json has it (June to October 2026).
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "gpu/webgpu_provider.hpp"

namespace ztvm::gpu {
namespace {

// Beside the program, where the build puts it, or wherever libraries are looked for.
constexpr const char* k_library = "libwebgpu_dawn.so";

constexpr auto k_toggles = static_cast<WGPUSType>(0x0005000A);
constexpr auto k_matrix_configs = static_cast<WGPUSType>(0x0005003B);
constexpr auto k_timestamps = static_cast<WGPUFeatureName>(0x00050003);    // between the dispatches of a pass
constexpr auto k_synchronises = static_cast<WGPUFeatureName>(0x00050004);  // calls from several threads
constexpr auto k_subgroup_matrix = static_cast<WGPUFeatureName>(0x00050034);

struct Toggles {
  WGPUChainedStruct chain = {.next = nullptr, .sType = k_toggles};
  std::size_t n_enabled = 0;
  const char* const* enabled = nullptr;
  std::size_t n_disabled = 0;
  const char* const* disabled = nullptr;
};

enum class Component : std::uint32_t { f32 = 1, f16 = 2 };

struct MatrixConfig {
  Component component;
  Component result;
  std::uint32_t m, n, k;
};

struct MatrixConfigs {
  WGPUChainedStruct chain = {.next = nullptr, .sType = k_matrix_configs};
  std::size_t n_configs = 0;
  const MatrixConfig* configs = nullptr;
};

// Subgroup matrices are experimental; f16 is off on NVIDIA for the conformance tests' sake. Without checks of indices, which
// browsers and wgpu-native keep, a token takes 4 to 6 % less, without zeros in workgroup memory, which every kernel writes
// before it reads, 1 to 2 % (docs/performance.md).
constexpr std::array k_enabled = {"allow_unsafe_apis", "vulkan_enable_f16_on_nvidia", "disable_robustness",
                                  "disable_workgroup_init"};
constexpr std::array k_disabled = {"timestamp_quantization"};
constexpr Toggles k_wanted_toggles = {.n_enabled = k_enabled.size(),
                                      .enabled = k_enabled.data(),
                                      .n_disabled = k_disabled.size(),
                                      .disabled = k_disabled.data()};

void wait_for(WGPUInstance instance, WGPUFuture future) {
  WGPUFutureWaitInfo info = WGPU_FUTURE_WAIT_INFO_INIT;
  info.future = future;
  wgpuInstanceWaitAny(instance, 1, &info, UINT64_MAX);
}

// Asks by a function that takes the request's callback, and waits for what it brings.
template <typename Handle, typename CallbackInfo, typename Ask>
Reply<Handle> answer_to(WGPUInstance instance, CallbackInfo request, const Ask& ask) {
  Reply<Handle> reply;
  request.mode = WGPUCallbackMode_WaitAnyOnly;
  request.callback = Reply<Handle>::take;
  request.userdata1 = &reply;
  wait_for(instance, ask(request));
  return reply;
}

// Its calls of its own functions must not meet those of wgpu-native, which have the same names.
void* open_library() { return ::dlopen(k_library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND); }

class DawnQueue final : public WebGpuQueue {
 public:
  DawnQueue(WGPUInstance instance, WGPUDevice device)
      : instance_(instance), queue_(wgpuDeviceGetQueue(device)) {}
  WGPUQueue handle() const override { return queue_.get(); }
  void submit(WGPUCommandBuffer commands) override { wgpuQueueSubmit(queue_.get(), 1, &commands); }
  Ticket map(WGPUBuffer buffer, WGPUMapMode mode, std::uint64_t n_bytes,
             const WGPUBufferMapCallbackInfo& callback) override {
    return wgpuBufferMapAsync(buffer, mode, 0, n_bytes, callback).id;
  }
  void poll() override { wgpuInstanceProcessEvents(instance_); }
  void wait(Ticket ticket) override { wait_for(instance_, WGPUFuture{.id = ticket}); }
  void wait_for_all() override {
    WGPUQueueWorkDoneCallbackInfo info = WGPU_QUEUE_WORK_DONE_CALLBACK_INFO_INIT;
    info.mode = WGPUCallbackMode_AllowProcessEvents;
    info.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};
    wait_for(instance_, wgpuQueueOnSubmittedWorkDone(queue_.get(), info));
    poll();
  }
  double ns_per_tick() const override { return 1; }

 private:
  WGPUInstance instance_;
  QueuePtr queue_;
};

class Dawn final : public WebGpuProvider {
 public:
  std::string_view name() const override { return "Dawn"; }

  bool is_there() const override { return open_library() != nullptr; }

  Result<void> load() const override {
    void* library = open_library();
    if (library == nullptr) {
      return fail(ErrorCode::unsupported, fmt::format("Dawn cannot be loaded: {}", ::dlerror()));
    }
    std::string missing;
    const auto find = [&]<typename Function>(const char* name, Function*& function) {
      void* found = ::dlsym(library, name);
      if (found == nullptr) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
      function = reinterpret_cast<Function*>(found);
    };
#define ZTVM_FIND(name) find("wgpu" #name, wgpu##name);
    ZTVM_WEBGPU_FUNCTIONS(ZTVM_FIND)
#undef ZTVM_FIND
    if (missing.empty()) return {};
    return fail(ErrorCode::unsupported, fmt::format("{} has no {}.", k_library, missing));
  }

  InstancePtr make_instance() const override {
    const auto waits = WGPUInstanceFeatureName_TimedWaitAny;
    Toggles toggles = k_wanted_toggles;
    WGPUInstanceDescriptor descriptor = WGPU_INSTANCE_DESCRIPTOR_INIT;
    descriptor.nextInChain = &toggles.chain;
    descriptor.requiredFeatureCount = 1;
    descriptor.requiredFeatures = &waits;
    return InstancePtr(wgpuCreateInstance(&descriptor));
  }

  // Its interface lists no adapters: those that are given on different wishes, each once.
  std::vector<AdapterPtr> adapters(WGPUInstance instance) const override {
    std::vector<AdapterPtr> all;
    std::vector<std::string> names;
    for (const auto wish : {WGPUPowerPreference_HighPerformance, WGPUPowerPreference_LowPower}) {
      for (const WGPUBool fallback : {WGPUBool{0}, WGPUBool{1}}) {
        AdapterPtr adapter = request_adapter(instance, wish, fallback);
        std::string name = adapter ? name_of(adapter.get()) : "";
        if (name.empty() || std::ranges::find(names, name) != names.end()) continue;
        names.push_back(std::move(name));
        all.push_back(std::move(adapter));
      }
    }
    return all;
  }

  void add_caps(WGPUAdapter adapter, Caps& caps) const override {
    caps.compiler = ShaderCompiler::tint;
    caps.subgroups = wgpuAdapterHasFeature(adapter, WGPUFeatureName_Subgroups) != 0;
    if (wgpuAdapterHasFeature(adapter, k_subgroup_matrix) == 0) return;
    MatrixConfigs matrices;
    WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
    info.nextInChain = &matrices.chain;
    wgpuAdapterGetInfo(adapter, &info);
    for (const MatrixConfig& one : std::span(matrices.configs, matrices.n_configs)) {
      caps.subgroup_matrix |= one.component == Component::f16 && one.result == Component::f32 &&
                              one.m == 16 && one.n == 16 && one.k == 16;
    }
    wgpuAdapterInfoFreeMembers(info);
  }

  bool lacks_matrices(WGPUAdapter) const override { return false; }

  bool has_timestamps(WGPUAdapter adapter) const override {
    return wgpuAdapterHasFeature(adapter, k_timestamps) != 0;
  }

  DevicePtr request_device(WGPUInstance instance, WGPUAdapter adapter, WGPUDeviceDescriptor descriptor,
                           const Caps& caps, bool timestamps, std::string& failure) const override {
    std::vector<WGPUFeatureName> features = {k_synchronises};
    if (caps.f16) features.push_back(WGPUFeatureName_ShaderF16);
    if (caps.subgroups) features.push_back(WGPUFeatureName_Subgroups);
    if (caps.subgroup_matrix) features.push_back(k_subgroup_matrix);
    if (timestamps) features.insert(features.end(), {WGPUFeatureName_TimestampQuery, k_timestamps});
    descriptor.requiredFeatureCount = features.size();
    descriptor.requiredFeatures = features.data();
    Toggles toggles = k_wanted_toggles;
    descriptor.nextInChain = &toggles.chain;
    WGPURequestDeviceCallbackInfo request = WGPU_REQUEST_DEVICE_CALLBACK_INFO_INIT;
    auto reply = answer_to<WGPUDevice>(instance, request, [&](const auto& callback) {
      return wgpuAdapterRequestDevice(adapter, &descriptor, callback);
    });
    failure = std::move(reply.message);
    return DevicePtr(reply.handle);
  }

  // Asked for like this it compiles on a thread of its own, and the device stays free for others.
  Result<PipelinePtr> compile(WGPUInstance instance, WGPUDevice device,
                              const PipelineJob& job) const override {
    const ShaderText text(job);
    const ShaderPtr module(wgpuDeviceCreateShaderModule(device, &text.descriptor));
    const WGPUComputePipelineDescriptor descriptor = pipeline_descriptor(job, module.get());
    WGPUCreateComputePipelineAsyncCallbackInfo request =
        WGPU_CREATE_COMPUTE_PIPELINE_ASYNC_CALLBACK_INFO_INIT;
    const auto reply = answer_to<WGPUComputePipeline>(instance, request, [&](const auto& callback) {
      return wgpuDeviceCreateComputePipelineAsync(device, &descriptor, callback);
    });
    if (reply.handle == nullptr) return fail(ErrorCode::device, reply.message);
    return PipelinePtr(reply.handle);
  }

  std::unique_ptr<WebGpuQueue> make_queue(WGPUInstance instance, WGPUDevice device) const override {
    return std::make_unique<DawnQueue>(instance, device);
  }

 private:
  // Empty for the backend that computes nothing, which it gives where it finds no driver.
  static std::string name_of(WGPUAdapter adapter) {
    WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
    wgpuAdapterGetInfo(adapter, &info);
    std::string name;
    if (info.backendType != WGPUBackendType_Null)
      name = fmt::format("{} {} {}", from_wgpu(info.device), from_wgpu(info.description),
                         static_cast<int>(info.backendType));
    wgpuAdapterInfoFreeMembers(info);
    return name;
  }

  static AdapterPtr request_adapter(WGPUInstance instance, WGPUPowerPreference wish, WGPUBool fallback) {
    Toggles toggles = k_wanted_toggles;
    WGPURequestAdapterOptions options = WGPU_REQUEST_ADAPTER_OPTIONS_INIT;
    options.nextInChain = &toggles.chain;
    options.powerPreference = wish;
    options.forceFallbackAdapter = fallback;
    WGPURequestAdapterCallbackInfo request = WGPU_REQUEST_ADAPTER_CALLBACK_INFO_INIT;
    const auto reply = answer_to<WGPUAdapter>(instance, request, [&](const auto& callback) {
      return wgpuInstanceRequestAdapter(instance, &options, callback);
    });
    return AdapterPtr(reply.handle);
  }
};

}  // namespace

const WebGpuProvider& dawn_provider() {
  static const Dawn provider;
  return provider;
}

}  // namespace ztvm::gpu
