// gpu::Device over webgpu.h: tables of objects, command lists, reads through staging buffers.
#include "gpu/webgpu_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "gpu/pipeline_compiler_native.hpp"
#include "gpu/timestamps_native.hpp"
#include "gpu/upload_ring_native.hpp"
#include "gpu/webgpu_provider.hpp"

namespace ztvm::gpu {
namespace {

// wgpu keeps written bytes in staging memory until a submit; flushing bounds that.
constexpr std::uint64_t k_max_unflushed_bytes = 8u << 20;
// From here on a write goes through the ring, which small ones would only wait for.
constexpr std::size_t k_large_write_bytes = 64u << 10;

struct PipelineEntry {
  LayoutPtr layout;
  std::unique_ptr<PipelineJob> job;  // has the pipeline, once it is compiled
};

struct PendingRead {
  BufferPtr staging;
  std::uint64_t n_staging_bytes = 0;
  std::uint64_t n_bytes = 0;
  ReadCallback callback;
  WebGpuQueue::Ticket ticket = 0;
  bool mapped = false;
  std::string failure;
};

class WebGpuDevice final : public Device {
 public:
  WebGpuDevice(std::shared_ptr<const WebGpuProvider> provider, InstancePtr instance, DevicePtr device,
               Caps caps, bool timestamps, std::unique_ptr<ErrorSlot> errors)
      : provider_(std::move(provider)),
        instance_(std::move(instance)),
        errors_(std::move(errors)),
        device_(std::move(device)),
        queue_(provider_->make_queue(instance_.get(), device_.get())),
        uploads_(device_.get(), *queue_),
        caps_(std::move(caps)),
        has_timestamps_(timestamps),
        compiler_(
            [this](const PipelineJob& job) {
              return provider_->compile(instance_.get(), device_.get(), job);
            },
            caps_.kind) {}
  ~WebGpuDevice() override { queue_->wait_for_all(); }

  const Caps& caps() const override { return caps_; }
  Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override;
  void write(BufferId buffer, std::uint64_t offset, Bytes bytes) override;
  PipelineId create_pipeline(const PipelineDesc& desc) override;
  BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) override;
  std::uint64_t n_bytes(BufferId id) const override {
    return wgpuBufferGetSize(buffer(static_cast<std::uint32_t>(id)));
  }
  void destroy(BufferId id) override;
  void destroy(PipelineId id) override;
  void destroy(BindingsId id) override { bindings_[static_cast<std::size_t>(id) - 1].reset(); }
  void submit(std::span<const Command> commands) override;
  Result<std::vector<double>> time(std::span<const Command> commands, Timed timed) override;
  void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) override;
  Result<void> poll(bool wait) override;
  std::size_t n_pending() const override { return reads_.size() + compiling_.size(); }

 private:
  WGPUBuffer buffer(std::uint32_t id) const { return buffers_[id - 1].get(); }
  void encode(WGPUCommandEncoder encoder, std::span<const Command> commands, TimestampQueries* times,
              Timed timed) const;
  WGPUComputePipeline pipeline(std::uint32_t id) const;
  void await_pipelines(std::span<const Command> commands) const;
  void finish_and_submit(EncoderPtr encoder);
  BufferPtr take_staging(std::uint64_t n_bytes, std::uint64_t& n_staging_bytes);
  void deliver(PendingRead read);

  std::shared_ptr<const WebGpuProvider> provider_;
  InstancePtr instance_;
  std::unique_ptr<ErrorSlot> errors_;  // outlives the device, whose callbacks write to it
  DevicePtr device_;
  std::unique_ptr<WebGpuQueue> queue_;
  UploadRing uploads_;
  Caps caps_;
  bool has_timestamps_ = false;
  std::vector<BufferPtr> buffers_;
  std::vector<PipelineEntry> pipelines_;
  std::vector<BindGroupPtr> bindings_;
  std::deque<std::unique_ptr<PendingRead>> reads_;  // oldest first
  std::vector<std::pair<std::uint64_t, BufferPtr>> idle_staging_;
  std::uint64_t n_unflushed_bytes_ = 0;
  std::vector<const PipelineJob*> compiling_;  // whose end poll() has not told yet
  PipelineCompiler compiler_;                  // ends before what its threads use
};

constexpr std::size_t k_first_part = 32;  // commands, of a list that meets an idle GPU

Result<BufferId> WebGpuDevice::create_buffer(std::uint64_t n_bytes, std::string_view label) {
  const bool had_error = errors_->is_set();
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.label = to_wgpu(label);
  descriptor.size = std::max<std::uint64_t>(round_up<std::uint64_t>(n_bytes, 4), 4);
  descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  BufferPtr handle(wgpuDeviceCreateBuffer(device_.get(), &descriptor));
  const auto error = errors_->get();
  if (!handle || (!had_error && error)) {
    const std::string reason = error ? error->text : "the driver gives no reason";
    if (!had_error) errors_->clear();
    return fail(ErrorCode::out_of_memory,
                fmt::format("Adapter \"{}\" cannot allocate {} for buffer \"{}\": {}", caps_.adapter,
                            format_bytes(n_bytes), label, reason));
  }
  buffers_.push_back(std::move(handle));
  return static_cast<BufferId>(buffers_.size());
}

void WebGpuDevice::write(BufferId id, std::uint64_t offset, Bytes bytes) {
  const WGPUBuffer target = buffer(static_cast<std::uint32_t>(id));
  // Behind bytes that wait in the ring a small write waits, too: writes keep their order.
  if (bytes.size() >= k_large_write_bytes || uploads_.has_waiting()) {
    uploads_.write(target, offset, bytes);
    return;
  }
  wgpuQueueWriteBuffer(queue_->handle(), target, offset, bytes.data(), bytes.size());
  n_unflushed_bytes_ += bytes.size();
  if (n_unflushed_bytes_ < k_max_unflushed_bytes) return;
  submit({});
  queue_->wait_for_all();
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
  auto job = std::make_unique<PipelineJob>(PipelineJob{
      .label = std::string(desc.label),
      .wgsl = std::string(desc.wgsl),
      .layout = PipelineLayoutPtr(wgpuDeviceCreatePipelineLayout(device_.get(), &pipeline_layout_descriptor)),
      .pipeline = nullptr});
  compiler_.start(*job);
  compiling_.push_back(job.get());
  pipelines_.push_back({.layout = std::move(layout), .job = std::move(job)});
  return static_cast<PipelineId>(pipelines_.size());
}

void WebGpuDevice::destroy(BufferId id) {
  uploads_.forget(buffer(static_cast<std::uint32_t>(id)));
  buffers_[static_cast<std::size_t>(id) - 1].reset();
}

void WebGpuDevice::destroy(PipelineId id) {
  PipelineEntry& entry = pipelines_[static_cast<std::size_t>(id) - 1];
  if (entry.job) compiler_.wait(*entry.job);
  std::erase(compiling_, entry.job.get());
  entry = {};
}

// Of a pipeline that is compiled.
WGPUComputePipeline WebGpuDevice::pipeline(std::uint32_t id) const {
  return pipelines_[id - 1].job->pipeline.get();
}

// The error of one that has failed to compile is stored, again if poll() has told it already.
void WebGpuDevice::await_pipelines(std::span<const Command> commands) const {
  for (const Command& command : commands) {
    if (command.kind != Command::Kind::dispatch) continue;
    const PipelineJob& job = *pipelines_[command.a - 1].job;
    if (!compiling_.empty()) compiler_.wait(job);
    if (job.error) return errors_->store(job.error->code, job.error->text);
  }
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
  await_pipelines(commands);
  // Recording with failed objects would only bury the first error.
  if (errors_->is_set()) return;
  // A model is loaded before it runs.
  if (!commands.empty()) uploads_.release();
  // A GPU with nothing to do starts on a first part while the rest is recorded: recording takes some 2 us a command.
  std::size_t n_part = reads_.empty() ? k_first_part : commands.size();
  do {
    const auto part = commands.first(std::min(n_part, commands.size()));
    EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
    encode(encoder.get(), part, nullptr, Timed::whole);
    finish_and_submit(std::move(encoder));
    commands = commands.subspan(part.size());
    n_part *= 2;
  } while (!commands.empty());
}

// With times, one before the first dispatch, and one when each is done or, of the whole, each pass.
void WebGpuDevice::encode(WGPUCommandEncoder encoder, std::span<const Command> commands,
                          TimestampQueries* times, Timed timed) const {
  PassPtr pass;
  const auto end_pass = [&] {
    if (!pass) return;
    if (times != nullptr && timed == Timed::whole) times->write(pass.get());
    wgpuComputePassEncoderEnd(pass.get());
    pass.reset();
  };
  for (const Command& command : commands) {
    if (command.kind == Command::Kind::dispatch) {
      if (!pass) pass.reset(wgpuCommandEncoderBeginComputePass(encoder, nullptr));
      if (times != nullptr && times->empty()) times->write(pass.get());
      wgpuComputePassEncoderSetPipeline(pass.get(), pipeline(command.a));
      wgpuComputePassEncoderSetBindGroup(pass.get(), 0, bindings_[command.b - 1].get(), 0, nullptr);
      wgpuComputePassEncoderDispatchWorkgroups(pass.get(), command.x, command.y, command.z);
      if (times != nullptr && timed == Timed::each) times->write(pass.get());
    } else {
      end_pass();
      wgpuCommandEncoderCopyBufferToBuffer(encoder, buffer(command.a), std::uint64_t{command.x} * 4,
                                           buffer(command.b), std::uint64_t{command.y} * 4,
                                           std::uint64_t{command.z} * 4);
    }
  }
  end_pass();
}

Result<std::vector<double>> WebGpuDevice::time(std::span<const Command> commands, Timed timed) {
  if (!has_timestamps_) return Device::time(commands, timed);
  await_pipelines(commands);
  const auto n_dispatches = std::ranges::count(commands, Command::Kind::dispatch, &Command::kind);
  TimestampQueries times(device_.get(), static_cast<std::uint32_t>(n_dispatches) + 1);
  if (const auto error = errors_->get()) return fail(error->code, error->text);
  EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
  encode(encoder.get(), commands, &times, timed);
  times.resolve(encoder.get());
  finish_and_submit(std::move(encoder));
  auto us = times.read(*queue_);
  if (us && timed == Timed::whole) *us = {std::accumulate(us->begin(), us->end(), 0.0)};
  return us;
}

void WebGpuDevice::finish_and_submit(EncoderPtr encoder) {
  uploads_.flush();
  n_unflushed_bytes_ = 0;
  const CommandsPtr commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  queue_->submit(commands.get());
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
  if (auto error = errors_->get()) {
    callback(std::unexpected(std::move(*error)));
    return;
  }
  auto pending = std::make_unique<PendingRead>();
  pending->n_bytes = n_bytes;
  pending->callback = std::move(callback);
  pending->staging = take_staging(n_bytes, pending->n_staging_bytes);
  EncoderPtr encoder(wgpuDeviceCreateCommandEncoder(device_.get(), nullptr));
  wgpuCommandEncoderCopyBufferToBuffer(encoder.get(), source, offset, pending->staging.get(), 0, n_bytes);
  finish_and_submit(std::move(encoder));

  WGPUBufferMapCallbackInfo info = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = pending.get();
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* userdata, void*) {
    auto* read = static_cast<PendingRead*>(userdata);
    read->mapped = true;
    if (status != WGPUMapAsyncStatus_Success) read->failure = fmt::format("{} ", from_wgpu(message));
  };
  pending->ticket = queue_->map(pending->staging.get(), WGPUMapMode_Read, n_bytes, info);
  reads_.push_back(std::move(pending));
}

void WebGpuDevice::deliver(PendingRead read) {
  if (!read.failure.empty()) {
    const auto error = errors_->get();
    read.callback(fail(error ? error->code : ErrorCode::device,
                       fmt::format("Reading from the GPU fails: {}", read.failure)));
    return;
  }
  const void* data = wgpuBufferGetConstMappedRange(read.staging.get(), 0, read.n_bytes);
  read.callback(Bytes(static_cast<const std::byte*>(data), static_cast<std::size_t>(read.n_bytes)));
  wgpuBufferUnmap(read.staging.get());
  idle_staging_.emplace_back(read.n_staging_bytes, std::move(read.staging));
}

Result<void> WebGpuDevice::poll(bool wait) {
  if (wait && !reads_.empty()) {
    queue_->wait(reads_.front()->ticket);
  } else {
    if (wait && !compiling_.empty()) compiler_.wait(*compiling_.front());
    queue_->poll();
  }
  std::erase_if(compiling_, [this](const PipelineJob* job) {
    if (!compiler_.is_done(*job)) return false;
    if (job->error) errors_->store(job->error->code, job->error->text);
    return true;
  });
  while (!reads_.empty() && reads_.front()->mapped) {
    PendingRead read = std::move(*reads_.front());
    reads_.pop_front();
    deliver(std::move(read));
  }
  auto stored = errors_->get();
  if (!stored) return {};
  // A lost device stays lost; other errors are told once.
  Error error = std::move(*stored);
  if (error.code != ErrorCode::device_lost) errors_->clear();
  while (!reads_.empty() && error.code == ErrorCode::device_lost) {
    PendingRead read = std::move(*reads_.front());
    reads_.pop_front();
    read.callback(fail(error.code, error.text));
  }
  return std::unexpected(std::move(error));
}

}  // namespace

std::unique_ptr<Device> make_webgpu_device(std::shared_ptr<const WebGpuProvider> provider,
                                           InstancePtr instance, DevicePtr device, Caps caps, bool timestamps,
                                           std::unique_ptr<ErrorSlot> errors) {
  return std::make_unique<WebGpuDevice>(std::move(provider), std::move(instance), std::move(device),
                                        std::move(caps), timestamps, std::move(errors));
}

}  // namespace ztvm::gpu
