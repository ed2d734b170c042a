#pragma once
// Finds the fastest form of each op that has several, on this adapter: the ops of one shape run in a chain, each layer with
// its own weights, in every form in turn, and the shortest time wins. It never waits, so that a browser can, too.
//
// The clock is the host's, around a submit and a read behind it: GPU timestamps slow some drivers, and browsers round
// them. A form other than the kernel's own choice is taken only where it is clearly faster, and after its result was
// compared with the oracle.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.hpp"
#include "engine/passes.hpp"
#include "gpu/plan.hpp"
#include "gpu/tuning.hpp"

namespace ztvm::engine {

class Tuner {
 public:
  // Shapes that `known` has are left out. `passes` are those of `model`, whose cache and state are overwritten. Borrows
  // everything but `known`; lives until it is done, or an error came.
  Tuner(gpu::Device& device, const Model& model, Passes& passes, gpu::Tuning known,
        std::function<double()> now_ms);
  ~Tuner();

  // Goes on; true once every shape was measured, or the time for it is over: the others are measured at another start.
  // Polls the device; with `wait` (native only) it returns after something happened. Errors: the device's.
  Result<bool> step(bool wait);
  // `known`, and what was measured.
  const gpu::Tuning& tuning() const { return tuning_; }

 private:
  struct Shape;
  struct Candidate;
  struct Check;

  void collect(const gpu::Recording& recording, std::uint32_t n_rows, std::size_t n_before);
  void start_shape();
  void start_run();
  bool is_measured() const;
  double best_ms() const;
  void end_shape();
  void start_check(std::size_t candidate);
  Result<void> end_check();
  void keep(const std::string& form);

  gpu::Device& device_;
  const Model& model_;
  Passes& passes_;
  model::State state_;
  gpu::Tuning tuning_;
  std::function<double()> now_ms_;
  double started_ms_ = 0.0;
  gpu::PipelineCache pipelines_;

  std::vector<Shape> shapes_;          // to be measured
  std::size_t shape_ = 0;              // the one that is
  std::vector<Candidate> candidates_;  // its forms; the first is the kernel's own choice
  std::size_t run_ = 0;                // of the shape: rounds of all candidates
  std::uint32_t n_repeats_ = 1;        // of the chain in a run
  std::unique_ptr<Check> check_;
  Result<void> status_;
};

}  // namespace ztvm::engine
