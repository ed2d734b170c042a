#pragma once
// The gated feed-forward block: norm, fused gate and up with SwiGLU, down added to the stream.
#include "model/blocks/layer_context.hpp"
#include "model/names.hpp"

namespace ztvm::model {

struct MlpWeights {
  VectorHandle norm{};
  MatrixHandle gate_up{};
  MatrixHandle down{};
};

MlpWeights plan_mlp(WeightPlan::Builder& builder, const MlpNames& names, std::uint32_t dim);
void record_mlp(const LayerContext& context, const MlpWeights& weights);

}  // namespace ztvm::model
