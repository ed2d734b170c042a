#pragma once
// A model whose buffers exist; it can run once all weights are in them.
#include <optional>

#include "engine/model_plan.hpp"

namespace ztvm::engine {

struct Model {
  model::ModelSpec spec;
  std::uint32_t context = 0;
  MemoryPlan memory;
  std::optional<TextParts> text;  // none: made without files, so it takes and gives ids alone
  model::Buffers buffers;
  model::WeightPlan weights;
  model::Decoder decoder;
};

}  // namespace ztvm::engine
