#pragma once
// Owners of webgpu.h objects, shared by the native device's files.
#include <memory>
#include <string>
#include <string_view>

#include "gpu/device.hpp"
#include "gpu/error_slot_native.hpp"
#include "gpu/webgpu_functions.hpp"

namespace ztvm::gpu {

template <auto& release>
struct Release {
  template <typename T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using InstancePtr = std::unique_ptr<WGPUInstanceImpl, Release<wgpuInstanceRelease>>;
using AdapterPtr = std::unique_ptr<WGPUAdapterImpl, Release<wgpuAdapterRelease>>;
using DevicePtr = std::unique_ptr<WGPUDeviceImpl, Release<wgpuDeviceRelease>>;
using QueuePtr = std::unique_ptr<WGPUQueueImpl, Release<wgpuQueueRelease>>;
using BufferPtr = std::unique_ptr<WGPUBufferImpl, Release<wgpuBufferRelease>>;
using PipelinePtr = std::unique_ptr<WGPUComputePipelineImpl, Release<wgpuComputePipelineRelease>>;
using LayoutPtr = std::unique_ptr<WGPUBindGroupLayoutImpl, Release<wgpuBindGroupLayoutRelease>>;
using PipelineLayoutPtr = std::unique_ptr<WGPUPipelineLayoutImpl, Release<wgpuPipelineLayoutRelease>>;
using ShaderPtr = std::unique_ptr<WGPUShaderModuleImpl, Release<wgpuShaderModuleRelease>>;
using BindGroupPtr = std::unique_ptr<WGPUBindGroupImpl, Release<wgpuBindGroupRelease>>;
using EncoderPtr = std::unique_ptr<WGPUCommandEncoderImpl, Release<wgpuCommandEncoderRelease>>;
using PassPtr = std::unique_ptr<WGPUComputePassEncoderImpl, Release<wgpuComputePassEncoderRelease>>;
using QuerySetPtr = std::unique_ptr<WGPUQuerySetImpl, Release<wgpuQuerySetRelease>>;
using CommandsPtr = std::unique_ptr<WGPUCommandBufferImpl, Release<wgpuCommandBufferRelease>>;

inline WGPUStringView to_wgpu(std::string_view text) { return {.data = text.data(), .length = text.size()}; }
inline std::string_view from_wgpu(WGPUStringView text) {
  if (text.data == nullptr) return {};
  return text.length == WGPU_STRLEN ? std::string_view(text.data) : std::string_view(text.data, text.length);
}

}  // namespace ztvm::gpu
