#include "model/blocks/moe.hpp"

#include "kernels/combine/combine.hpp"
#include "kernels/expert_matmul/expert_matmul.hpp"
#include "kernels/group_experts/group_experts.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/route/route.hpp"

namespace ztvm::model {

MoeWeights plan_moe(WeightPlan::Builder& builder, const MoeNames& names, const MoeSpec& spec,
                    std::uint32_t dim) {
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

namespace {

// The shared expert's part of every row, before its gate.
void record_shared_expert(const LayerContext& context, const MoeWeights& weights) {
  kernels::matmul(context.recording, context.name("shared gate and up"),
                  {.weights = context.weights.matrix(weights.shared_gate_up),
                   .epilogue = kernels::Epilogue::swiglu,
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = context.scratch.normed,
                   .out = context.scratch.hidden});
  kernels::matmul(context.recording, context.name("shared down"),
                  {.weights = context.weights.matrix(weights.shared_down),
                   .epilogue = kernels::Epilogue::store_f32,
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = context.scratch.hidden,
                   .out = context.scratch.shared_out});
}

}  // namespace

void record_moe(const LayerContext& context, const MoeSpec& spec, const MoeWeights& weights) {
  const Scratch& scratch = context.scratch;
  const std::uint32_t router_stride = spec.n_experts + (spec.shared_dim > 0 ? 1 : 0);
  record_norm(context, "feed-forward norm", weights.norm);
  // In f32: a choice of experts that flips is no small error.
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
  // With many rows, an expert's weights are read once for all of its rows.
  std::optional<kernels::ExpertGroups> groups;
  if (kernels::should_group_experts(context.recording.max_rows, spec.n_experts, spec.n_active)) {
    groups = {.offsets = scratch.group_offsets, .order = scratch.group_pairs};
    kernels::group_experts(context.recording, context.name("groups of experts"),
                           {.n_experts = spec.n_experts,
                            .top_k = spec.n_active,
                            .step = context.step,
                            .ids = scratch.expert_ids,
                            .offsets = groups->offsets,
                            .order = groups->order});
  }
  kernels::expert_matmul(context.recording, context.name("experts gate and up"),
                         {.weights = context.weights.matrix(weights.gate_up),
                          .n_experts = spec.n_experts,
                          .top_k = spec.n_active,
                          .epilogue = kernels::Epilogue::swiglu,
                          .input = kernels::ExpertInput::rows,
                          .step = context.step,
                          .x = scratch.normed,
                          .ids = scratch.expert_ids,
                          .groups = groups,
                          .quantised = scratch.input,
                          .out = scratch.expert_hidden});
  kernels::expert_matmul(context.recording, context.name("experts down"),
                         {.weights = context.weights.matrix(weights.down),
                          .n_experts = spec.n_experts,
                          .top_k = spec.n_active,
                          .epilogue = kernels::Epilogue::store_f32,
                          .input = kernels::ExpertInput::pairs,
                          .step = context.step,
                          .x = scratch.expert_hidden,
                          .ids = scratch.expert_ids,
                          .groups = groups,
                          .quantised = scratch.input,
                          .out = scratch.expert_out});
  if (spec.shared_dim > 0) record_shared_expert(context, weights);
  kernels::Combine combine = {.dim = context.spec.dim,
                              .top_k = spec.n_active,
                              .step = context.step,
                              .weights = scratch.expert_shares,
                              .down = scratch.expert_out,
                              .shared = std::nullopt,
                              .x = scratch.x};
  if (spec.shared_dim > 0) {
    combine.shared = {.logits = scratch.router,
                      .stride = router_stride,
                      .gate_column = spec.n_experts,
                      .shared = scratch.shared_out};
  }
  kernels::combine(context.recording, context.name("sum of experts"), combine);
}

}  // namespace ztvm::model
