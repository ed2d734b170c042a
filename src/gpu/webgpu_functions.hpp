#pragma once
// The functions of webgpu.h, of whichever library provides them: pointers under the functions' own names, which are found
// before those of wgpu-native, that is linked. They are its at first.
#include <webgpu.h>
#include <wgpu.h>

#define ZTVM_WEBGPU_FUNCTIONS(X)          \
  X(AdapterGetInfo)                       \
  X(AdapterGetLimits)                     \
  X(AdapterHasFeature)                    \
  X(AdapterInfoFreeMembers)               \
  X(AdapterRelease)                       \
  X(AdapterRequestDevice)                 \
  X(BindGroupLayoutRelease)               \
  X(BindGroupRelease)                     \
  X(BufferGetConstMappedRange)            \
  X(BufferGetMappedRange)                 \
  X(BufferGetSize)                        \
  X(BufferMapAsync)                       \
  X(BufferRelease)                        \
  X(BufferUnmap)                          \
  X(CommandBufferRelease)                 \
  X(CommandEncoderBeginComputePass)       \
  X(CommandEncoderCopyBufferToBuffer)     \
  X(CommandEncoderFinish)                 \
  X(CommandEncoderRelease)                \
  X(CommandEncoderResolveQuerySet)        \
  X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderEnd)                \
  X(ComputePassEncoderRelease)            \
  X(ComputePassEncoderSetBindGroup)       \
  X(ComputePassEncoderSetPipeline)        \
  X(ComputePassEncoderWriteTimestamp)     \
  X(ComputePipelineRelease)               \
  X(CreateInstance)                       \
  X(DeviceCreateBindGroup)                \
  X(DeviceCreateBindGroupLayout)          \
  X(DeviceCreateBuffer)                   \
  X(DeviceCreateCommandEncoder)           \
  X(DeviceCreateComputePipeline)          \
  X(DeviceCreateComputePipelineAsync)     \
  X(DeviceCreatePipelineLayout)           \
  X(DeviceCreateQuerySet)                 \
  X(DeviceCreateShaderModule)             \
  X(DeviceGetQueue)                       \
  X(DeviceRelease)                        \
  X(InstanceProcessEvents)                \
  X(InstanceRelease)                      \
  X(InstanceRequestAdapter)               \
  X(InstanceWaitAny)                      \
  X(PipelineLayoutRelease)                \
  X(QuerySetRelease)                      \
  X(QueueOnSubmittedWorkDone)             \
  X(QueueRelease)                         \
  X(QueueSubmit)                          \
  X(QueueWriteBuffer)                     \
  X(ShaderModuleRelease)

namespace ztvm::gpu {

#define ZTVM_DEFINE(name) inline decltype(&::wgpu##name) wgpu##name = &::wgpu##name;
ZTVM_WEBGPU_FUNCTIONS(ZTVM_DEFINE)
#undef ZTVM_DEFINE

}  // namespace ztvm::gpu
