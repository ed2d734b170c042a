#include "bench/stream.hpp"

#include <algorithm>

#include "kernels/stream_read/stream_read.hpp"

namespace ztvm::bench {
namespace {

constexpr int k_rounds = 3;
constexpr int k_max_runs = 1024;
// A round this long is not blurred by the time that a browser takes to see that it ended.
constexpr double k_round_ms = 100.0;

}  // namespace

Result<void> StreamRead::prepare() {
  const gpu::Target target = gpu::choose_target(device_.caps());
  const std::uint64_t wanted = target.cpu ? 64ull << 20 : 1ull << 30;
  const std::uint64_t n_bytes =
      std::min({wanted, device_.caps().max_binding_bytes, device_.caps().max_buffer_bytes}) / 16 * 16;
  const std::uint32_t n_workgroups = target.cpu ? 64 : 4096;
  auto data = gpu::make_buffer(device_, n_bytes, "stream");
  if (!data) return forward(data);
  auto out = gpu::make_buffer(device_, std::uint64_t{n_workgroups} * kernels::k_stream_workgroup * 4,
                              "stream result");
  if (!out) return forward(out);
  gpu::Recording recording = {.target = target, .limits = {}, .max_rows = 1, .ops = {}};
  kernels::stream_read(recording, "stream",
                       {.n_quads = narrow<std::uint32_t>(n_bytes / 16),
                        .n_workgroups = n_workgroups,
                        .data = {.buffer = data->id(), .dtype = gpu::Dtype::u32},
                        .out = {.buffer = out->id(), .dtype = gpu::Dtype::u32}});
  data_ = std::move(*data);
  out_ = std::move(*out);
  executor_ = gpu::make_gpu_executor(device_);
  id_ = executor_->add(std::move(recording));
  return {};
}

Result<void> StreamRead::submit_round() {
  running_ = true;
  arrived_ms_ = 0.0;
  started_ms_ = now_ms_();
  for (int run = 0; run < n_runs_; ++run) executor_->run(id_, 1);
  if (auto flushed = executor_->flush(); !flushed) return flushed;
  device_.read(out_.id(), 0, 4, [this](Result<Bytes> bytes) {
    if (!bytes) read_status_ = forward(bytes);
    arrived_ms_ = now_ms_();
  });
  return {};
}

// The first round compiles; those that are too short tell how long the others must be.
void StreamRead::end_round() {
  running_ = false;
  const double ms = std::max(arrived_ms_ - started_ms_, 1e-3);
  if (warm_ && (ms >= k_round_ms || n_runs_ == k_max_runs)) {
    best_ = std::max(best_, static_cast<double>(data_.n_bytes()) * n_runs_ / ms * 1000.0);
    ++n_rounds_;
  } else if (warm_) {
    n_runs_ = std::min(2 * n_runs_, k_max_runs);
  }
  warm_ = true;
}

Result<bool> StreamRead::step(bool wait) {
  if (!executor_) {
    if (auto prepared = prepare(); !prepared) return forward(prepared);
  }
  if (!running_) {
    if (auto submitted = submit_round(); !submitted) return forward(submitted);
  }
  if (auto polled = device_.poll(wait); !polled) return forward(polled);
  if (!read_status_) return forward(read_status_);
  if (arrived_ms_ > 0.0) end_round();
  if (n_rounds_ < k_rounds) return false;
  executor_.reset();
  data_ = {};
  out_ = {};
  return true;
}

}  // namespace ztvm::bench
