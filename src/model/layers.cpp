#include "model/layers.hpp"

namespace ztvm::model {

ModelWeights plan_weights(WeightPlan::Builder& builder, const WeightNames& names, const ModelSpec& spec) {
  ModelWeights weights;
  weights.embedding = builder.matrix(names.embedding);
  for (std::size_t i = 0; i < names.layers.size(); ++i) {
    LayerWeights& layer = weights.layers.emplace_back();
    const LayerSpec& layer_spec = spec.layers[i];
    if (const auto* attention = std::get_if<AttentionNames>(&names.layers[i].mixer)) {
      layer.mixer = plan_attention(builder, *attention, std::get<AttentionSpec>(layer_spec.mixer), spec.dim);
    } else {
      layer.mixer = plan_delta_net(builder, std::get<DeltaNetNames>(names.layers[i].mixer),
                                   std::get<DeltaNetSpec>(layer_spec.mixer), spec.dim);
    }
    if (const auto* mlp = std::get_if<MlpNames>(&names.layers[i].ffn)) {
      layer.ffn = plan_mlp(builder, *mlp, spec.dim);
    } else {
      layer.ffn = plan_moe(builder, std::get<MoeNames>(names.layers[i].ffn),
                           std::get<MoeSpec>(layer_spec.ffn), spec.dim);
    }
  }
  weights.final_norm = builder.vector({{names.final_norm}, {spec.dim}});
  weights.head = names.head.sources.empty() ? weights.embedding : builder.matrix(names.head);
  return weights;
}

void record_layer(const LayerContext& context, const LayerWeights& weights, const LayerState& state) {
  const LayerSpec& spec = context.spec.layers[context.layer];
  if (const auto* attention = std::get_if<AttentionSpec>(&spec.mixer)) {
    record_attention(context, *attention, std::get<AttentionWeights>(weights.mixer),
                     std::get<AttentionState>(state));
  } else {
    record_delta_net(context, std::get<DeltaNetSpec>(spec.mixer), std::get<DeltaNetWeights>(weights.mixer),
                     std::get<DeltaNetState>(state));
  }
  if (std::holds_alternative<MlpSpec>(spec.ffn)) {
    record_mlp(context, std::get<MlpWeights>(weights.ffn));
  } else {
    record_moe(context, std::get<MoeSpec>(spec.ffn), std::get<MoeWeights>(weights.ffn));
  }
}

}  // namespace ztvm::model
