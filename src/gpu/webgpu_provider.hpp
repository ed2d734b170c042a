#pragma once
// What the libraries that provide webgpu.h do each in its own way: wgpu-native, which is linked, and Dawn, which is loaded.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/pipeline_compiler_native.hpp"
#include "gpu/webgpu_device.hpp"
#include "gpu/webgpu_handles.hpp"

namespace ztvm::gpu {

// A device's queue: hands work over and waits for it.
class WebGpuQueue {
 public:
  // What to wait for: a submission of wgpu-native, a future of Dawn.
  using Ticket = std::uint64_t;

  virtual ~WebGpuQueue() = default;
  virtual WGPUQueue handle() const = 0;
  virtual void submit(WGPUCommandBuffer commands) = 0;
  // Maps a buffer's first bytes once what is submitted so far is done; poll() and wait() run the callback.
  virtual Ticket map(WGPUBuffer buffer, WGPUMapMode mode, std::uint64_t n_bytes,
                     const WGPUBufferMapCallbackInfo& callback) = 0;
  virtual void poll() = 0;
  virtual void wait(Ticket ticket) = 0;
  virtual void wait_for_all() = 0;
  virtual double ns_per_tick() const = 0;  // of timestamps
};

// Stateless: one of each library, for the whole process.
class WebGpuProvider {
 public:
  virtual ~WebGpuProvider() = default;
  virtual std::string_view name() const = 0;
  // Points the functions of webgpu_functions.hpp at this library. Errors: unsupported, when it is not there.
  virtual Result<void> load() const = 0;
  virtual InstancePtr make_instance() const = 0;
  virtual std::vector<AdapterPtr> adapters(WGPUInstance instance) const = 0;
  // The capabilities that libraries tell under names of their own: compiler, subgroups, matrices.
  virtual void add_caps(WGPUAdapter adapter, Caps& caps) const = 0;
  // Whether the driver has matrices that this library cannot switch on.
  virtual bool lacks_matrices(WGPUAdapter adapter) const = 0;
  virtual bool has_timestamps(WGPUAdapter adapter) const = 0;
  // Adds the features of those capabilities, and `timestamps`, to a request that they belong to.
  virtual DevicePtr request_device(WGPUInstance instance, WGPUAdapter adapter,
                                   WGPUDeviceDescriptor descriptor, const Caps& caps, bool timestamps,
                                   std::string& failure) const = 0;
  virtual Result<PipelinePtr> compile(WGPUInstance instance, WGPUDevice device,
                                      const PipelineJob& job) const = 0;
  virtual std::unique_ptr<WebGpuQueue> make_queue(WGPUInstance instance, WGPUDevice device) const = 0;
};

// The descriptors of a job's shader module and pipeline, which borrow from it.
struct ShaderText {
  explicit ShaderText(const PipelineJob& job) {
    source.code = to_wgpu(job.wgsl);
    descriptor.nextInChain = &source.chain;
    descriptor.label = to_wgpu(job.label);
  }
  ShaderText(const ShaderText&) = delete;
  ShaderText& operator=(const ShaderText&) = delete;
  WGPUShaderSourceWGSL source = WGPU_SHADER_SOURCE_WGSL_INIT;
  WGPUShaderModuleDescriptor descriptor = WGPU_SHADER_MODULE_DESCRIPTOR_INIT;
};
inline WGPUComputePipelineDescriptor pipeline_descriptor(const PipelineJob& job, WGPUShaderModule module) {
  WGPUComputePipelineDescriptor descriptor = WGPU_COMPUTE_PIPELINE_DESCRIPTOR_INIT;
  descriptor.label = to_wgpu(job.label);
  descriptor.layout = job.layout.get();
  descriptor.compute.module = module;
  descriptor.compute.entryPoint = to_wgpu("main");
  return descriptor;
}

const WebGpuProvider& wgpu_native_provider();
const WebGpuProvider& dawn_provider();

// Makes the device object around what open_webgpu_device() opened.
std::unique_ptr<Device> make_webgpu_device(std::shared_ptr<const WebGpuProvider> provider,
                                           InstancePtr instance, DevicePtr device, Caps caps, bool timestamps,
                                           std::unique_ptr<ErrorSlot> errors);

}  // namespace ztvm::gpu
