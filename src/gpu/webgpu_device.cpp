// gpu::Device over webgpu.h: tables of objects, command lists, reads through staging buffers.
#include "gpu/webgpu_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "gpu/webgpu_handles.hpp"

namespace ztvm::gpu {
namespace {

// wgpu keeps written bytes in staging memory until a submit; flushing bounds that while weights are loaded.
constexpr std::uint64_t k_max_unflushed_bytes = 8u << 20;

struct PipelineEntry {
  PipelinePtr pipeline;
  LayoutPtr layout;
};

struct PendingRead {
  BufferPtr staging;
  std::uint64_t n_staging_bytes = 0;
  std::uint64_t n_bytes = 0;
  ReadCallback callback;
  WGPUSubmissionIndex submission = 0;
  bool mapped = false;
  std::string failure;
};

class WebGpuDevice final : public Device {
 public:
  WebGpuDevice(InstancePtr instance, DevicePtr device, Caps caps, bool timestamps,
               std::unique_ptr<ErrorSlot> errors)
      : instance_(std::move(instance)),
        errors_(std::move(errors)),
        device_(std::move(device)),
        queue_(wgpuDeviceGetQueue(device_.get())),
        caps_(std::move(caps)),
        has_timestamps_(timestamps) {}
  ~WebGpuDevice() override { wgpuDevicePoll(device_.get(), true, nullptr); }

  const Caps& caps() const override { return caps_; }
  Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override;
  void write(BufferId buffer, std::uint64_t offset, Bytes bytes) override;
  PipelineId create_pipeline(const PipelineDesc& desc) override;
  BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) override;
  std::uint64_t n_bytes(BufferId id) const override {
    return wgpuBufferGetSize(buffer(static_cast<std::uint32_t>(id)));
  }
  void destroy(BufferId id) override { buffers_[static_cast<std::size_t>(id) - 1].reset(); }
  void destroy(PipelineId id) override { pipelines_[static_cast<std::size_t>(id) - 1] = {}; }
  void destroy(BindingsId id) override { bindings_[static_cast<std::size_t>(id) - 1].reset(); }
  void submit(std::span<const Command> commands) override;
  Result<std::vector<double>> time(std::span<const Command> commands) override;
  bool has_timestamps() const override { return has_timestamps_; }
  void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) override;
  Result<void> poll(bool wait) override;
  std::size_t n_pending() const override { return reads_.size(); }

 private:
  WGPUBuffer buffer(std::uint32_t id) const { return buffers_[id - 1].get(); }
  void encode(WGPUCommandEncoder encoder, std::span<const Command> commands, WGPUQuerySet times) const;
  WGPUSubmissionIndex finish_and_submit(EncoderPtr encoder);
  BufferPtr take_staging(std::uint64_t n_bytes, std::uint64_t& n_staging_bytes);
  void deliver(PendingRead read);

  InstancePtr instance_;
  std::unique_ptr<ErrorSlot> errors_;  // outlives the device, whose callbacks write to it
  DevicePtr device_;
  QueuePtr queue_;
  Caps caps_;
  bool has_timestamps_ = false;
  std::vector<BufferPtr> buffers_;
  std::vector<PipelineEntry> pipelines_;
  std::vector<BindGroupPtr> bindings_;
  std::deque<std::unique_ptr<PendingRead>> reads_;  // oldest first
  std::vector<std::pair<std::uint64_t, BufferPtr>> idle_staging_;
  std::uint64_t n_unflushed_bytes_ = 0;
};

Result<BufferId> WebGpuDevice::create_buffer(std::uint64_t n_bytes, std::string_view label) {
  const bool had_error = errors_->set;
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.label = to_wgpu(label);
  descriptor.size = std::max<std::uint64_t>(round_up<std::uint64_t>(n_bytes, 4), 4);
  descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  BufferPtr handle(wgpuDeviceCreateBuffer(device_.get(), &descriptor));
  if (!handle || (!had_error && errors_->set)) {
    const std::string reason = errors_->set ? errors_->error.text : "the driver gives no reason";
    if (!had_error) *errors_ = {};
    return fail(ErrorCode::out_of_memory,
                fmt::format("Adapter \"{}\" cannot allocate {} for buffer \"{}\": {}", caps_.adapter,
                            format_bytes(n_bytes), label, reason));
  }
  buffers_.push_back(std::move(handle));
  return static_cast<BufferId>(buffers_.size());
}

void WebGpuDevice::write(BufferId id, std::uint64_t offset, Bytes bytes) {
  wgpuQueueWriteBuffer(queue_.get(), buffer(static_cast<std::uint32_t>(id)), offset, bytes.data(),
                       bytes.size());
  n_unflushed_bytes_ += bytes.size();
  if (n_unflushed_bytes_ < k_max_unflushed_bytes) return;
  submit({});
  wgpuDevicePoll(device_.get(), true, nullptr);
}

PipelineId WebGpuDevice::create_pipeline(const PipelineDesc& desc) {
  std::vector<WGPUBindGroupLayoutEntry> entries;
  for (std::size_t i = 0; i < desc.access.size(); ++i) {
    WGPUBindGroupLayoutEntry entry = WGPU_BIND_GROUP_LAYOUT_ENTRY_INIT;
    entry.binding = static_cast<std::uint32_t>(i);
    entry.visibility = WGPUShaderStage_Compute;
    entry.buffer.type = desc.access[i] == Access::read ? WGPUBufferBindingType_ReadOnlyStorage
                                                       : WGPUBufferBindingType_Storage;
    entries.push_back(entry);
  }
  WGPUBindGroupLayoutDescriptor layout_descriptor = WGPU_BIND_GROUP_LAYOUT_DESCRIPTOR_INIT;
  layout_descriptor.label = to_wgpu(desc.label);
  layout_descriptor.entryCount = entries.size();
  layout_descriptor.entries = entries.data();
  LayoutPtr layout(wgpuDeviceCreateBindGroupLayout(device_.get(), &layout_descriptor));

  WGPUBindGroupLayout group = layout.get();
  WGPUPipelineLayoutDescriptor pipeline_layout_descriptor = WGPU_PIPELINE_LAYOUT_DESCRIPTOR_INIT;
  pipeline_layout_descriptor.bindGroupLayoutCount = 1;
  pipeline_layout_descriptor.bindGroupLayouts = &group;
  const PipelineLayoutPtr pipeline_layout(
      wgpuDeviceCreatePipelineLayout(device_.get(), &pipeline_layout_descriptor));

  WGPUShaderSourceWGSL source = WGPU_SHADER_SOURCE_WGSL_INIT;
  source.code = to_wgpu(desc.wgsl);
  WGPUShaderModuleDescriptor module_descriptor = WGPU_SHADER_MODULE_DESCRIPTOR_INIT;
  module_descriptor.nextInChain = &source.chain;
  module_descriptor.label = to_wgpu(desc.label);
  // The kernels are this project's own and end: counting the rounds of every loop cost 15 % of decode and half of
  // prefill. Indices stay checked.
  const ShaderPtr module(wgpuDeviceCreateShaderModuleTrusted(device_.get(), &module_descriptor,
                                                             WGPUShaderRuntimeChecks_BoundsChecks));

  WGPUComputePipelineDescriptor descriptor = WGPU_COMPUTE_PIPELINE_DESCRIPTOR_INIT;
  descriptor.label = to_wgpu(desc.label);
  descriptor.layout = pipeline_layout.get();
  descriptor.compute.module = module.get();
  descriptor.compute.entryPoint = to_wgpu("main");
  PipelinePtr pipeline(wgpuDeviceCreateComputePipeline(device_.get(), &descriptor));
  pipelines_.push_back({std::move(pipeline), std::move(layout)});
  return static_cast<PipelineId>(pipelines_.size());
}

BindingsId WebGpuDevice::create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) {
  std::vector<WGPUBindGroupEntry> entries;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    WGPUBindGroupEntry entry = WGPU_BIND_GROUP_ENTRY_INIT;
    entry.binding = static_cast<std::uint32_t>(i);
    entry.buffer = buffer(static_cast<std::uint32_t>(buffers[i]));
    entry.size = wgpuBufferGetSize(entry.buffer);
    entries.push_back(entry);
  }
  WGPUBindGroupDescriptor descriptor = WGPU_BIND_GROUP_DESCRIPTOR_INIT;
  descriptor.layout = pipelines_[static_cast<std::size_t>(pipeline) - 1].layout.get();
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  bindings_.emplace_back(wgpuDeviceCreateBindGroup(device_.get(), &descriptor));
  return static_cast<BindingsId>(bindings_.size());
}

void WebGpuDevice::submit(std::span<const Command> commands) {
  if (errors_->set) return;  // recording with failed objects would only bury the first error
  EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
  encode(encoder.get(), commands, nullptr);
  finish_and_submit(std::move(encoder));
}

// With a query set, dispatch i is done at time i + 1, counting dispatches alone; time 0 is before the first.
void WebGpuDevice::encode(WGPUCommandEncoder encoder, std::span<const Command> commands,
                          WGPUQuerySet times) const {
  PassPtr pass;
  std::uint32_t n_times = 0;
  const auto end_pass = [&] {
    if (pass) wgpuComputePassEncoderEnd(pass.get());
    pass.reset();
  };
  for (const Command& command : commands) {
    if (command.kind == Command::Kind::dispatch) {
      if (!pass) pass.reset(wgpuCommandEncoderBeginComputePass(encoder, nullptr));
      if (times != nullptr && n_times == 0)
        wgpuComputePassEncoderWriteTimestamp(pass.get(), times, n_times++);
      wgpuComputePassEncoderSetPipeline(pass.get(), pipelines_[command.a - 1].pipeline.get());
      wgpuComputePassEncoderSetBindGroup(pass.get(), 0, bindings_[command.b - 1].get(), 0, nullptr);
      wgpuComputePassEncoderDispatchWorkgroups(pass.get(), command.x, command.y, command.z);
      if (times != nullptr) wgpuComputePassEncoderWriteTimestamp(pass.get(), times, n_times++);
    } else {
      end_pass();
      wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer(command.a), std::uint64_t{command.x} * 4,
                                           buffer(command.b), std::uint64_t{command.y} * 4,
                                           std::uint64_t{command.z} * 4);
    }
  }
  end_pass();
}

Result<std::vector<double>> WebGpuDevice::time(std::span<const Command> commands) {
  if (!has_timestamps_) return Device::time(commands);
  const auto n_dispatches = static_cast<std::uint32_t>(std::ranges::count_if(
      commands, [](const Command& command) { return command.kind == Command::Kind::dispatch; }));
  WGPUQuerySetDescriptor descriptor = WGPU_QUERY_SET_DESCRIPTOR_INIT;
  descriptor.type = WGPUQueryType_Timestamp;
  descriptor.count = n_dispatches + 1;
  const QuerySetPtr times(wgpuDeviceCreateQuerySet(device_.get(), &descriptor));
  if (errors_->set) return fail(errors_->error.code, errors_->error.text);
  WGPUBufferDescriptor buffer_descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  buffer_descriptor.size = 8ull * descriptor.count;
  buffer_descriptor.usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc;
  buffers_.emplace_back(wgpuDeviceCreateBuffer(device_.get(), &buffer_descriptor));
  const auto resolved = static_cast<BufferId>(buffers_.size());
  EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
  encode(encoder.get(), commands, times.get());
  wgpuCommandEncoderResolveQuerySet(encoder.get(), times.get(), 0, descriptor.count, buffers_.back().get(),
                                    0);
  finish_and_submit(std::move(encoder));
  auto bytes = read_now(*this, resolved, 0, buffer_descriptor.size);
  destroy(resolved);
  if (!bytes) return forward(bytes);
  const double us_per_tick = wgpuQueueGetTimestampPeriod(queue_.get()) / 1000.0;
  std::vector<double> us(n_dispatches);
  for (std::uint32_t i = 0; i < n_dispatches; ++i) {
    const auto ticks =
        load_as<std::uint64_t>(*bytes, 8ull * (i + 1)) - load_as<std::uint64_t>(*bytes, 8ull * i);
    us[i] = static_cast<double>(ticks) * us_per_tick;
  }
  return us;
}

WGPUSubmissionIndex WebGpuDevice::finish_and_submit(EncoderPtr encoder) {
  n_unflushed_bytes_ = 0;
  const CommandsPtr commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  WGPUCommandBuffer handle = commands.get();
  return wgpuQueueSubmitForIndex(queue_.get(), 1, &handle);
}

BufferPtr WebGpuDevice::take_staging(std::uint64_t n_bytes, std::uint64_t& n_staging_bytes) {
  for (auto it = idle_staging_.begin(); it != idle_staging_.end(); ++it) {
    if (it->first < n_bytes) continue;
    BufferPtr buffer = std::move(it->second);
    n_staging_bytes = it->first;
    idle_staging_.erase(it);
    return buffer;
  }
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.size = n_staging_bytes = n_bytes;
  descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  return BufferPtr(wgpuDeviceCreateBuffer(device_.get(), &descriptor));
}

void WebGpuDevice::read(BufferId id, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) {
  WGPUBuffer source = buffer(static_cast<std::uint32_t>(id));
  if (n_bytes == k_whole_buffer) n_bytes = wgpuBufferGetSize(source) - offset;
  if (errors_->set) {
    callback(fail(errors_->error.code, errors_->error.text));
    return;
  }
  auto pending = std::make_unique<PendingRead>();
  pending->n_bytes = n_bytes;
  pending->callback = std::move(callback);
  pending->staging = take_staging(n_bytes, pending->n_staging_bytes);
  EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
  wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), source, offset, pending->staging.get(), 0, n_bytes);
  pending->submission = finish_and_submit(std::move(encoder));

  WGPUBufferMapCallbackInfo info = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = pending.get();
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* userdata, void*) {
    auto* read = static_cast<PendingRead*>(userdata);
    read->mapped = true;
    if (status != WGPUMapAsyncStatus_Success) read->failure = fmt::format("{} ", from_wgpu(message));
  };
  WGPUBuffer staging = pending->staging.get();
  reads_.push_back(std::move(pending));
  wgpuBufferMapAsync(staging, WGPUMapMode_Read, 0, n_bytes, info);
}

void WebGpuDevice::deliver(PendingRead read) {
  if (!read.failure.empty()) {
    const ErrorCode code = errors_->set ? errors_->error.code : ErrorCode::device;
    read.callback(fail(code, fmt::format("Reading from the GPU fails: {}", read.failure)));
    return;
  }
  const void* data = wgpuBufferGetConstMappedRange(read.staging.get(), 0, read.n_bytes);
  read.callback(Bytes(static_cast<const std::byte*>(data), static_cast<std::size_t>(read.n_bytes)));
  wgpuBufferUnmap(read.staging.get());
  idle_staging_.emplace_back(read.n_staging_bytes, std::move(read.staging));
}

Result<void> WebGpuDevice::poll(bool wait) {
  if (wait && !reads_.empty()) {
    wgpuDevicePoll(device_.get(), true, &reads_.front()->submission);
  } else {
    wgpuDevicePoll(device_.get(), false, nullptr);
  }
  while (!reads_.empty() && reads_.front()->mapped) {
    PendingRead read = std::move(*reads_.front());
    reads_.pop_front();
    deliver(std::move(read));
  }
  if (!errors_->set) return {};
  // A lost device stays lost; other errors are told once.
  Error error = errors_->error;
  if (error.code != ErrorCode::device_lost) *errors_ = {};
  while (!reads_.empty() && error.code == ErrorCode::device_lost) {
    PendingRead read = std::move(*reads_.front());
    reads_.pop_front();
    read.callback(fail(error.code, error.text));
  }
  return std::unexpected(std::move(error));
}

}  // namespace

std::unique_ptr<Device> make_webgpu_device(InstancePtr instance, DevicePtr device, Caps caps, bool timestamps,
                                           std::unique_ptr<ErrorSlot> errors) {
  return std::make_unique<WebGpuDevice>(std::move(instance), std::move(device), std::move(caps), timestamps,
                                        std::move(errors));
}

}  // namespace ztvm::gpu
