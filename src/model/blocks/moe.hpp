#pragma once
// The sparse mixture of experts: norm, router, the chosen experts' gated feed-forward parts, a shared expert behind a
// gate of its own, all added to the stream. Nothing of it is read back to the host.
#include "model/blocks/layer_context.hpp"
#include "model/names.hpp"

namespace ztvm::model {

struct MoeWeights {
  VectorHandle norm{};
  MatrixHandle router{};
  MatrixHandle gate_up{};
  MatrixHandle down{};
  MatrixHandle shared_gate_up{};
  MatrixHandle shared_down{};
};

MoeWeights plan_moe(WeightPlan::Builder& builder, const MoeNames& names, const MoeSpec& spec,
                    std::uint32_t dim);
void record_moe(const LayerContext& context, const MoeSpec& spec, const MoeWeights& weights);

}  // namespace ztvm::model
