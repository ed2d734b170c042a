#pragma once
// What the libraries that provide webgpu.h do each in its own way: wgpu-native, which is linked, and Dawn, which is loaded.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/pipeline_compiler_native.hpp"
#include "gpu/webgpu_device.hpp"
#include "gpu/webgpu_handles.hpp"
#include "gpu/webgpu_queue.hpp"

namespace ztvm::gpu {

// What a request brings: a handle, or why there is none.
template <typename Handle>
struct Reply {
  Handle handle = nullptr;
  std::string message;

  // The request's callback, with a Reply as its user data.
  template <typename Status>
  static void take(Status, Handle handle, WGPUStringView message, void* reply, void*) {
    static_cast<Reply*>(reply)->handle = handle;
    static_cast<Reply*>(reply)->message = std::string(from_wgpu(message));
  }
};

// Stateless: one of each library, for the whole process.
class WebGpuProvider {
 public:
  virtual ~WebGpuProvider() = default;
  virtual std::string_view name() const = 0;
  // Whether the library can be loaded.
  virtual bool is_there() const = 0;
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
