#pragma once
// The gated DeltaNet block: norm, fused projections, causal convolution, delta rule on a recurrent state, gated norm,
// output added to the stream.
#include "kernels/delta_rule/delta_rule.hpp"
#include "model/blocks/layer_context.hpp"
#include "model/layer_state.hpp"
#include "model/names.hpp"

namespace ztvm::model {

struct DeltaNetWeights {
  VectorHandle norm{};
  MatrixHandle in{};  // rows q | k | v | z | b | a
  VectorHandle conv{};
  VectorHandle a_log{};
  VectorHandle dt_bias{};
  VectorHandle out_norm{};
  MatrixHandle out{};
};

// How the block calls the delta rule.
kernels::DeltaRuleShape delta_rule_shape(const DeltaNetSpec& spec);

DeltaNetWeights plan_delta_net(WeightPlan::Builder& builder, const DeltaNetNames& names,
                               const DeltaNetSpec& spec, std::uint32_t dim);
void record_delta_net(const LayerContext& context, const DeltaNetSpec& spec, const DeltaNetWeights& weights,
                      const DeltaNetState& state);

}  // namespace ztvm::model
