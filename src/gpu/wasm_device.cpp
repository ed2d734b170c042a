#include "gpu/wasm_device.hpp"

#include <fmt/format.h>

#include <utility>

#include "gpu/wasm_imports.hpp"

namespace ztvm::gpu {
namespace {

constexpr std::size_t k_kept_bytes = 1 << 20;

static_assert(sizeof(BufferId) == sizeof(std::uint32_t) && sizeof(Access) == 1);

}  // namespace

Result<BufferId> WasmDevice::create_buffer(std::uint64_t n_bytes, std::string_view label) {
  if (n_bytes > caps_.max_buffer_bytes) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("Buffer \"{}\" needs {}, but adapter \"{}\" allows {}.", label,
                            format_bytes(n_bytes), caps_.adapter, format_bytes(caps_.max_buffer_bytes)));
  }
  const std::uint32_t id = ++last_id_;
  buffer_bytes_.resize(id + 1);
  buffer_bytes_[id] = n_bytes;
  ztvm_gpu_create_buffer(id, static_cast<double>(n_bytes), label.data(), label.size());
  return BufferId{id};
}

void WasmDevice::write(BufferId buffer, std::uint64_t offset, Bytes bytes) {
  check(offset % 4 == 0 && bytes.size() % 4 == 0, "write() is not in whole words");
  ztvm_gpu_write(std::to_underlying(buffer), static_cast<double>(offset), bytes.data(), bytes.size());
}

PipelineId WasmDevice::create_pipeline(const PipelineDesc& desc) {
  const std::uint32_t id = ++last_id_;
  ++n_compiling_;
  ztvm_gpu_create_pipeline(id, desc.wgsl.data(), desc.wgsl.size(), desc.label.data(), desc.label.size(),
                           reinterpret_cast<const std::uint8_t*>(desc.access.data()), desc.access.size());
  return PipelineId{id};
}

BindingsId WasmDevice::create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) {
  const std::uint32_t id = ++last_id_;
  ztvm_gpu_create_bindings(id, std::to_underlying(pipeline),
                           reinterpret_cast<const std::uint32_t*>(buffers.data()), buffers.size());
  return BindingsId{id};
}

void WasmDevice::destroy(BufferId buffer) { ztvm_gpu_destroy(std::to_underlying(buffer)); }
void WasmDevice::destroy(PipelineId pipeline) { ztvm_gpu_destroy(std::to_underlying(pipeline)); }
void WasmDevice::destroy(BindingsId bindings) { ztvm_gpu_destroy(std::to_underlying(bindings)); }

void WasmDevice::submit(std::span<const Command> commands) {
  ztvm_gpu_submit(commands.data(), commands.size());
}

std::uint32_t WasmDevice::expect(std::size_t n_bytes, ReadCallback callback) {
  if (free_reads_.empty()) {
    free_reads_.push_back(narrow<std::uint32_t>(reads_.size()));
    reads_.emplace_back();
  }
  const std::uint32_t token = free_reads_.back();
  free_reads_.pop_back();
  reads_[token].bytes.resize(n_bytes);
  reads_[token].callback = std::move(callback);
  ++n_reads_;
  return token;
}

void WasmDevice::read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) {
  if (n_bytes == k_whole_buffer) n_bytes = buffer_bytes_[std::to_underlying(buffer)] - offset;
  check(offset % 4 == 0 && n_bytes % 4 == 0, "read() is not in whole words");
  const std::uint32_t token = expect(narrow<std::size_t>(n_bytes), std::move(callback));
  std::vector<std::byte>& bytes = reads_[token].bytes;
  ztvm_gpu_read(std::to_underlying(buffer), static_cast<double>(offset), bytes.data(), bytes.size(), token);
}

void WasmDevice::time_later(std::span<const Command> commands,
                            std::function<void(Result<std::vector<double>>)> callback) {
  const std::uint32_t token =
      expect(commands.size() * sizeof(double), [callback = std::move(callback)](Result<Bytes> bytes) {
        if (!bytes) return callback(forward(bytes));
        std::vector<double> us(bytes->size() / sizeof(double));
        for (std::size_t i = 0; i < us.size(); ++i) us[i] = load_as<double>(*bytes, i * sizeof(double));
        callback(std::move(us));
      });
  ztvm_gpu_time(commands.data(), commands.size(), reads_[token].bytes.data(), token);
}

void WasmDevice::on_read_done(std::uint32_t token, bool ok) {
  finished_.push_back({.token = token, .ok = ok});
}

void WasmDevice::on_error(Error error) { errors_.push_back(std::move(error)); }

void WasmDevice::finish(Finished finished) {
  // The callback may start further reads, which may move reads_: take out what it needs.
  ReadCallback callback = std::move(reads_[finished.token].callback);
  std::vector<std::byte> bytes = std::move(reads_[finished.token].bytes);
  --n_reads_;
  if (finished.ok) {
    callback(Bytes(bytes));
  } else {
    callback(fail(ErrorCode::device, "The GPU did not give back the bytes of a buffer that was read."));
  }
  // Small ones are kept for the next read; a weight's bytes are not.
  if (bytes.size() <= k_kept_bytes) reads_[finished.token].bytes = std::move(bytes);
  free_reads_.push_back(finished.token);
}

Result<void> WasmDevice::poll(bool) {
  std::swap(delivering_, finished_);
  for (const Finished& finished : delivering_) finish(finished);
  delivering_.clear();
  if (errors_.empty()) return {};
  Error error = std::move(errors_.front());
  errors_.clear();
  return std::unexpected(std::move(error));
}

}  // namespace ztvm::gpu
