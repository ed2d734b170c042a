#pragma once
// The rate of a streaming read of a large buffer, which decode is compared with. Never blocks unless asked to.
#include <functional>
#include <memory>

#include "gpu/device.hpp"
#include "gpu/executor.hpp"

namespace ztvm::bench {

class StreamRead {
 public:
  StreamRead(gpu::Device& device, std::function<double()> now_ms)
      : device_(device), now_ms_(std::move(now_ms)) {}

  // Goes on; with `wait` (natively) it returns after something happened. True: the rate is known.
  // Errors: the device's; out_of_memory.
  Result<bool> step(bool wait);
  double bytes_per_s() const { return best_; }  // the best of several rounds

 private:
  Result<void> prepare();
  Result<void> submit_round();
  void end_round();

  gpu::Device& device_;
  std::function<double()> now_ms_;
  gpu::Buffer data_;
  gpu::Buffer out_;
  std::unique_ptr<gpu::Executor> executor_;  // none: not prepared yet
  gpu::RecordingId id_{};
  int n_runs_ = 1;    // reads of the buffer in a round
  int n_rounds_ = 0;  // that were long enough to count
  bool warm_ = false;
  bool running_ = false;
  double started_ms_ = 0.0;
  Result<void> read_status_;
  double arrived_ms_ = 0.0;  // 0: the round is under way
  double best_ = 0.0;
};

}  // namespace ztvm::bench
