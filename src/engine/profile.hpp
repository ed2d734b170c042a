#pragma once
// Time of each kind of op of a pass by the GPU's clock, the gap before it included, which a timestamp widens by some
// microseconds. The whole pass runs, so that caches hold what they hold in use.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "gpu/device.hpp"
#include "gpu/plan.hpp"

namespace ztvm::engine {

// The ops of a pass over `n_rows` tokens at position `depth`, kind by kind; of one token with the head and the choice.
// At most the rows of a prefill chunk, and what the context holds. Whoever can time commands runs it, pass by pass.
class PassProfile {
 public:
  enum class Average : std::uint8_t { median, mean };  // mean: where the clock has steps longer than an op

  // The pipelines compile; the model outlives this.
  PassProfile(gpu::Device& device, const Model& model, std::uint32_t n_rows, std::uint32_t depth);
  // Commands to be timed; their rows are handed to the device.
  std::span<const gpu::Command> next_pass();
  // Microseconds of each command. The first passes warm up.
  void add(std::span<const double> us);
  std::size_t n_samples() const { return samples_.front().size(); }  // of each op
  std::vector<KernelTime> times(Average kind) const;

 private:
  gpu::Device& device_;
  const Model& model_;
  std::uint32_t n_rows_ = 1;
  std::uint32_t depth_ = 0;
  gpu::Recording recording_;
  gpu::PipelineCache pipelines_;
  gpu::Plan plan_;
  std::vector<gpu::Command> commands_;
  std::uint32_t n_added_ = 0;
  std::vector<std::vector<double>> samples_;  // of each op
};

// Such a profile on a device that times by itself. Blocks: natively only. Errors: unsupported when it was opened without
// timestamps.
Result<PassTimes> profile_pass(gpu::Device& device, const Model& model, std::uint32_t n_rows,
                               std::uint32_t depth);

}  // namespace ztvm::engine
