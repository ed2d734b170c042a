#include "gpu/host_device.hpp"

#include <algorithm>

namespace ztvm::gpu {

HostDevice::HostDevice() {
  caps_.adapter = "reference (oracles on the CPU)";
  caps_.driver = "none";
  caps_.kind = AdapterKind::cpu;
  caps_.max_buffer_bytes = std::uint64_t{1} << 40;
  caps_.max_binding_bytes = std::uint64_t{1} << 40;
  caps_.max_bindings = 16;
}

Result<BufferId> HostDevice::create_buffer(std::uint64_t n_bytes, std::string_view) {
  buffers_.emplace_back(static_cast<std::size_t>(round_up<std::uint64_t>(n_bytes, 4)));
  return static_cast<BufferId>(buffers_.size());
}

MutableBytes HostDevice::memory(BufferId buffer) {
  const auto index = static_cast<std::size_t>(buffer);
  check(index >= 1 && index <= buffers_.size(), "a buffer handle is of this device");
  return buffers_[index - 1];
}

void HostDevice::write(BufferId buffer, std::uint64_t offset, Bytes bytes) {
  const MutableBytes target = memory(buffer);
  check(offset <= target.size() && bytes.size() <= target.size() - offset, "a write stays inside its buffer");
  std::copy(bytes.begin(), bytes.end(), target.begin() + static_cast<std::ptrdiff_t>(offset));
}

PipelineId HostDevice::create_pipeline(const PipelineDesc&) {
  return static_cast<PipelineId>(++n_pipelines_);
}

BindingsId HostDevice::create_bindings(PipelineId, std::span<const BufferId>) {
  return static_cast<BindingsId>(++n_bindings_);
}

void HostDevice::destroy(BufferId buffer) {
  buffers_[static_cast<std::size_t>(buffer) - 1] = std::vector<std::byte>();
}

void HostDevice::submit(std::span<const Command> commands) {
  for (const Command& command : commands) {
    check(command.kind == Command::Kind::copy, "the host device runs no shaders");
    const MutableBytes source = memory(static_cast<BufferId>(command.a));
    write(static_cast<BufferId>(command.b), std::uint64_t{command.y} * 4,
          Bytes(source).subspan(std::size_t{command.x} * 4, std::size_t{command.z} * 4));
  }
}

void HostDevice::read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) {
  const Bytes bytes = Bytes(memory(buffer)).subspan(static_cast<std::size_t>(offset));
  callback(n_bytes == k_whole_buffer ? bytes : bytes.first(static_cast<std::size_t>(n_bytes)));
}

std::unique_ptr<HostDevice> make_host_device() { return std::make_unique<HostDevice>(); }

}  // namespace ztvm::gpu
