#pragma once
// Looks inside a model: logits and hidden states of a sequence. Blocks on reads, so natively only.
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

}  // namespace ztvm::engine
