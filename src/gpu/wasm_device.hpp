#pragma once
// The device of the browser: every call goes to web/gpu.ts through the wasm imports of module "ztvm".
// C++ allocates the ids. Completions come back between calls, through on_*(), and are handed out by poll().
#include <utility>
#include <vector>

#include "gpu/device.hpp"

namespace ztvm::gpu {

class WasmDevice final : public Device {
 public:
  explicit WasmDevice(Caps caps) : caps_(std::move(caps)) {}

  const Caps& caps() const override { return caps_; }
  Result<BufferId> create_buffer(std::uint64_t n_bytes, std::string_view label) override;
  std::uint64_t n_bytes(BufferId buffer) const override { return buffer_bytes_[std::to_underlying(buffer)]; }
  void write(BufferId buffer, std::uint64_t offset, Bytes bytes) override;
  PipelineId create_pipeline(const PipelineDesc& desc) override;
  BindingsId create_bindings(PipelineId pipeline, std::span<const BufferId> buffers) override;
  void destroy(BufferId buffer) override;
  void destroy(PipelineId pipeline) override;
  void destroy(BindingsId bindings) override;
  void submit(std::span<const Command> commands) override;
  void read(BufferId buffer, std::uint64_t offset, std::uint64_t n_bytes, ReadCallback callback) override;
  // As time(), which would have to wait: calls back from poll(). The device was opened with timestamps.
  void time_later(std::span<const Command> commands,
                  std::function<void(Result<std::vector<double>>)> callback);
  Result<void> poll(bool wait) override;
  std::size_t n_pending() const override { return n_reads_ + n_compiling_; }

  // Called by the module's exports. The page has written a read's bytes to where gpu_read asked for them.
  void on_read_done(std::uint32_t token, bool ok);
  void on_pipeline_done() { --n_compiling_; }
  void on_error(Error error);

 private:
  // A read on its way. Slots and their storage are used again, so that reading tokens allocates nothing.
  struct Read {
    std::vector<std::byte> bytes;
    ReadCallback callback;
  };
  struct Finished {
    std::uint32_t token = 0;
    bool ok = false;
  };
  void finish(Finished finished);
  // A slot for `n_bytes` that will arrive; its index is the token.
  std::uint32_t expect(std::size_t n_bytes, ReadCallback callback);

  Caps caps_;
  std::uint32_t last_id_ = 0;                // of buffers, pipelines and bindings alike
  std::vector<std::uint64_t> buffer_bytes_;  // by id; 0 where the id is no buffer's
  std::vector<Read> reads_;                  // a read's token is its index
  std::vector<std::uint32_t> free_reads_;
  std::vector<Finished> finished_;    // in order of completion
  std::vector<Finished> delivering_;  // the batch whose callbacks poll() runs
  std::vector<Error> errors_;
  std::size_t n_reads_ = 0;
  std::size_t n_compiling_ = 0;
};

}  // namespace ztvm::gpu
