#include "model/blocks/mlp.hpp"

#include "kernels/matmul/matmul.hpp"

namespace ztvm::model {

MlpWeights plan_mlp(WeightPlan::Builder& builder, const MlpNames& names, std::uint32_t dim) {
  MlpWeights weights;
  weights.norm = builder.vector({{names.norm}, {dim}});
  weights.gate_up = builder.matrix(names.gate_up);
  weights.down = builder.matrix(names.down);
  return weights;
}

void record_mlp(const LayerContext& context, const MlpWeights& weights) {
  const Scratch& scratch = context.scratch;
  const std::string norm_name = context.name("feed-forward norm");
  kernels::matmul(context.recording, context.name("gate and up"),
                  {.weights = context.weights.matrix(weights.gate_up),
                   .epilogue = kernels::Epilogue::swiglu,
                   .norm = input_norm(context, norm_name, weights.norm),
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.x,
                   .out = scratch.hidden});
  kernels::matmul(context.recording, context.name("down"),
                  {.weights = context.weights.matrix(weights.down),
                   .epilogue = kernels::Epilogue::add_residual,
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.hidden,
                   .out = scratch.x});
}

}  // namespace ztvm::model
