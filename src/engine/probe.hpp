#pragma once
// Looks inside a model: logits and hidden states of a sequence, logits after each of its tokens. Blocks on reads, so natively only.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "engine/passes.hpp"
#include "model/decoder.hpp"

namespace ztvm::engine {

// Logits [vocab] after `ids`, which start at position 0 and are valid. The sink may be empty.
Result<std::vector<float>> probe(gpu::Device& device, Passes& passes, const model::State& state,
                                 const model::ModelSpec& spec, std::span<const std::uint32_t> ids,
                                 const HiddenSink& sink);

// What is scored: ids that start at position 0 and are valid, in passes of at most `max_rows` rows.
struct Scored {
  std::span<const std::uint32_t> ids;
  std::uint32_t max_rows = 1;
};
// Gives the logits after each id. Errors: the device's, the sink's.
Result<void> score(gpu::Device& device, Passes& passes, const model::State& state,
                   const model::ModelSpec& spec, const Scored& scored, const LogitsSink& sink);

}  // namespace ztvm::engine
