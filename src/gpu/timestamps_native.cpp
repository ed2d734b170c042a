#include "gpu/timestamps_native.hpp"

#include <fmt/format.h>

namespace ztvm::gpu {
namespace {

BufferPtr make_times(WGPUDevice device, std::uint32_t n_times, WGPUBufferUsage usage) {
  WGPUBufferDescriptor descriptor = WGPU_BUFFER_DESCRIPTOR_INIT;
  descriptor.size = std::uint64_t{n_times} * sizeof(std::uint64_t);
  descriptor.usage = usage;
  return BufferPtr(wgpuDeviceCreateBuffer(device, &descriptor));
}

struct MapReply {
  bool done = false;
  std::string failure;
};

}  // namespace

TimestampQueries::TimestampQueries(WGPUDevice device, std::uint32_t n_times) {
  WGPUQuerySetDescriptor descriptor = WGPU_QUERY_SET_DESCRIPTOR_INIT;
  descriptor.type = WGPUQueryType_Timestamp;
  descriptor.count = n_times;
  set_.reset(wgpuDeviceCreateQuerySet(device, &descriptor));
  resolved_ = make_times(device, n_times, WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc);
  mapped_ = make_times(device, n_times, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
}

void TimestampQueries::resolve(WGPUCommandEncoder encoder) const {
  wgpuCommandEncoderResolveQuerySet(encoder, set_.get(), 0, n_written_, resolved_.get(), 0);
  wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved_.get(), 0, mapped_.get(), 0,
                                       std::uint64_t{n_written_} * sizeof(std::uint64_t));
}

Result<std::vector<double>> TimestampQueries::read(WebGpuQueue& queue) const {
  MapReply reply;
  WGPUBufferMapCallbackInfo info = WGPU_BUFFER_MAP_CALLBACK_INFO_INIT;
  info.mode = WGPUCallbackMode_AllowProcessEvents;
  info.userdata1 = &reply;
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* userdata, void*) {
    auto* r = static_cast<MapReply*>(userdata);
    r->done = true;
    if (status != WGPUMapAsyncStatus_Success)
      r->failure = fmt::format("Reading timestamps fails: {}", from_wgpu(message));
  };
  const std::size_t n_bytes = n_written_ * sizeof(std::uint64_t);
  const auto ticket = queue.map(mapped_.get(), WGPUMapMode_Read, n_bytes, info);
  while (!reply.done) queue.wait(ticket);
  if (!reply.failure.empty()) return fail(ErrorCode::device, reply.failure);
  const Bytes bytes(static_cast<const std::byte*>(wgpuBufferGetConstMappedRange(mapped_.get(), 0, n_bytes)),
                    n_bytes);
  const double us_per_tick = queue.ns_per_tick() / 1000.0;
  std::vector<double> us;
  for (std::size_t i = 1; i < n_written_; ++i) {
    const auto ticks = load_as<std::uint64_t>(bytes, 8 * i) - load_as<std::uint64_t>(bytes, 8 * (i - 1));
    us.push_back(static_cast<double>(ticks) * us_per_tick);
  }
  wgpuBufferUnmap(mapped_.get());
  return us;
}

}  // namespace ztvm::gpu
