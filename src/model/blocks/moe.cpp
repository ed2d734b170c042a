#include "model/blocks/moe.hpp"

#include "kernels/combine/combine.hpp"
#include "kernels/expert_matmul/expert_matmul.hpp"
#include "kernels/group_experts/group_experts.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/route/route.hpp"

namespace ztvm::model {

MoeWeights plan_moe(WeightPlan::Builder& builder, const MoeNames& names, const MoeSpec& spec, std::uint32_t dim) {
  MoeWeights weights;
  weights.norm = builder.vector({{names.norm}, {dim}});
  weights.router = builder.matrix(names.router);
  weights.gate_up = builder.matrix(names.gate_up);
  weights.down = builder.matrix(names.down);
  if (spec.shared_dim > 0) {
    weights.shared_gate_up = builder.matrix(names.shared_gate_up);
    weights.shared_down = builder.matrix(names.shared_down);
  }
  return weights;
}

void record_moe(const LayerContext& context, const MoeSpec& spec, const MoeWeights& weights) {
  const Scratch& scratch = context.scratch;
  const std::uint32_t router_stride = spec.n_experts + (spec.shared_dim > 0 ? 1 : 0);
  record_norm(context, "feed-forward norm", weights.norm);
  kernels::matmul(context.recording, context.name("router"),
                  {.weights = context.weights.matrix(weights.router),
                   .epilogue = kernels::Epilogue::store_f32,
                   .step = context.step,
                   .x = scratch.normed,
                   .out = scratch.router});
  kernels::route(context.recording, context.name("choice of experts"),
                 {.n_experts = spec.n_experts,
                  .top_k = spec.n_active,
                  .stride = router_stride,
                  .step = context.step,
                  .logits = scratch.router,
                  .ids = scratch.expert_ids,
                  .weights = scratch.expert_shares});
  (void)weights;
}

}  // namespace ztvm::model
