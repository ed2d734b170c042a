#include "model/weights.hpp"

namespace ztvm::model {

Result<ModelWeights> ModelWeights::plan(const WeightNames& names, const ModelSpec& spec,
                                        const load::Checkpoint& checkpoint, std::uint64_t max_binding_bytes,
                                        Buffers& buffers) {
  WeightPlan::Builder builder(checkpoint, max_binding_bytes, buffers);
  const auto norm = [&](const std::string& name) {
    return builder.vector({.tensor = name, .shape = {spec.dim}});
  };
  ModelWeights weights;
  weights.embedding_ = builder.matrix(names.embedding);
  for (const LayerNames& layer : names.layers) {
    PlannedLayer& planned = weights.layers_.emplace_back();
    planned.mixer_norm = norm(layer.mixer_norm);
    planned.qkv = builder.matrix(layer.qkv);
    planned.output = builder.matrix(layer.output);
    planned.ffn_norm = norm(layer.ffn_norm);
    planned.gate_up = builder.matrix(layer.gate_up);
    planned.down = builder.matrix(layer.down);
  }
  weights.final_norm_ = norm(names.final_norm);
  weights.head_ = names.head.sources.empty() ? weights.embedding_ : builder.matrix(names.head);
  auto plan = builder.finish();
  if (!plan) return forward(plan);
  weights.plan_ = std::move(*plan);
  return weights;
}

Weights ModelWeights::bind(const Buffers& buffers) const {
  Weights weights;
  weights.embedding = plan_.matrix(embedding_, buffers);
  for (const PlannedLayer& layer : layers_) {
    weights.layers.push_back({.mixer_norm = plan_.vector(layer.mixer_norm, buffers),
                              .qkv = plan_.matrix(layer.qkv, buffers),
                              .output = plan_.matrix(layer.output, buffers),
                              .ffn_norm = plan_.vector(layer.ffn_norm, buffers),
                              .gate_up = plan_.matrix(layer.gate_up, buffers),
                              .down = plan_.matrix(layer.down, buffers)});
  }
  weights.final_norm = plan_.vector(final_norm_, buffers);
  weights.head = plan_.matrix(head_, buffers);
  return weights;
}

}  // namespace ztvm::model
