#pragma once
// The weights of all layers and both ends, planned from the names of a checkpoint by the blocks they belong to.
#include <variant>
#include <vector>

#include "model/blocks/attention.hpp"
#include "model/blocks/delta_net.hpp"
#include "model/blocks/mlp.hpp"
#include "model/blocks/moe.hpp"
#include "model/names.hpp"

namespace ztvm::model {

struct LayerWeights {
  std::variant<AttentionWeights, DeltaNetWeights> mixer;
  std::variant<MlpWeights, MoeWeights> ffn;
};

struct ModelWeights {
  MatrixHandle embedding{};
  std::vector<LayerWeights> layers;
  VectorHandle final_norm{};
  MatrixHandle head{};  // the embedding again when tied
};

// Errors stay in the builder.
ModelWeights plan_weights(WeightPlan::Builder& builder, const WeightNames& names, const ModelSpec& spec);

// Records the mixer and the feed-forward part of context.layer.
void record_layer(const LayerContext& context, const LayerWeights& weights, const LayerState& state);

}  // namespace ztvm::model
