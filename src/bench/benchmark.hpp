#pragma once
// Measures an engine: a streaming read on its device, prefill, and decode at several depths. A state machine that never
// blocks unless asked to: natively `step(true)`, in a browser `step(false)` between its tasks.
#include <functional>
#include <optional>
#include <vector>

#include "bench/figures.hpp"
#include "bench/metered_device.hpp"
#include "bench/stream.hpp"
#include "engine/engine.hpp"

namespace ztvm::bench {

// What the last step worked on. Run 0 is not timed: it warms up, or takes the prompt in.
struct BenchProgress {
  enum class Phase : std::uint8_t { stream, prefill, decode } phase = Phase::stream;
  std::size_t depth_index = 0;  // of BenchOptions::depths, in decode
  std::uint32_t run = 0;
  double part = 0.0;  // of all there is to do
};

class Benchmark {
 public:
  // `engine` is ready and runs on `device`; both outlive this.
  Benchmark(MeteredDevice& device, engine::Engine& engine, BenchOptions options,
            std::function<double()> now_ms);

  // Goes on; with `wait` it returns after something happened. True: all figures are known.
  // Errors: of the device; a context that is too short for a depth; ids that differ from run to run.
  Result<bool> step(bool wait);
  const BenchFigures& figures() const { return figures_; }
  const BenchProgress& progress() const { return progress_; }

 private:
  using Phase = BenchProgress::Phase;
  // One generation. The phase's run 0 has a prompt of which nothing is cached.
  struct Run {
    Phase phase;
    std::size_t depth_index;
    std::uint32_t number;
  };
  Result<void> begin_run();
  Result<void> end_run();
  Result<void> end_prefill(const engine::Timings& timings);
  Result<void> end_decode(const engine::Timings& timings);
  Result<void> check_ids();
  HostCost take_cost();
  std::vector<std::uint32_t> next_prompt(std::uint32_t n_tokens);
  const Run& run() const { return runs_[n_done_]; }

  MeteredDevice& device_;
  engine::Engine& engine_;
  BenchOptions options_;
  std::function<double()> now_ms_;
  StreamRead stream_;
  bool streamed_ = false;
  std::vector<Run> runs_;
  std::size_t n_done_ = 0;
  bool running_ = false;
  std::uint32_t prompt_number_ = 0;
  std::vector<std::uint32_t> prompt_;
  std::vector<std::uint32_t> ids_;           // of the run that is under way
  std::vector<std::uint32_t> expected_ids_;  // of the first timed run at this depth
  double step_ms_ = 0.0;                     // of the host in steps that did not wait, since cost was taken
  std::optional<HostCost> until_first_;      // until the first token was known
  BenchFigures figures_;
  BenchProgress progress_;
};

}  // namespace ztvm::bench
