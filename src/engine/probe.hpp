#pragma once
// Looks inside a model: logits and hidden states of a sequence, part by part without blocking, so that a browser can,
// too; and the logits after each of its tokens, which blocks on reads.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/passes.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

// One sequence through the model. It borrows all but the ids, and lives until it no longer runs.
class Probe {
 public:
  // `ids` start at position 0 and are valid.
  Probe(gpu::Device& device, Passes& passes, const model::State& state, const model::ModelSpec& spec,
        std::span<const std::uint32_t> ids, ProbeSinks sinks);

  // Polls the device, gives the sinks what was read, and submits what is next; true once the logits were given.
  // With `wait` (native only) it returns after something was read. Errors: the device's, the sinks'; the probe is over.
  Result<bool> step(bool wait);
  // False once it is done or failed, and no read that it began is under way.
  bool is_running() const { return reading_ || !over_; }

 private:
  Result<void> submit_next();
  void read(const gpu::Tensor& tensor, std::uint64_t n_values);
  Result<void> take(Bytes bytes);

  gpu::Device& device_;
  Passes& passes_;
  const model::State& state_;
  const model::ModelSpec& spec_;
  std::vector<std::uint32_t> ids_;
  ProbeSinks sinks_;
  std::size_t first_ = 0;   // of ids: the chunk that runs
  std::size_t n_rows_ = 0;  // of that chunk
  std::size_t layer_ = 0;   // the next of the chunk whose hidden states are read
  bool reading_ = false;
  bool over_ = false;
  Result<void> status_;
};

// What is scored: ids that start at position 0 and are valid, in passes of at most `max_rows` rows.
struct Scored {
  std::span<const std::uint32_t> ids;
  std::uint32_t max_rows = 1;
};
// Gives the logits after each id. Blocks, so natively only. Errors: the device's, the sink's.
Result<void> score(gpu::Device& device, Passes& passes, const model::State& state,
                   const model::ModelSpec& spec, const Scored& scored, const LogitsSink& sink);

}  // namespace ztvm::engine
