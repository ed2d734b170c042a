#pragma once
// Router of a sparse mixture of experts: the top_k largest of a row's n_experts logits, and their weights.
// softmax over all experts, cut to the top_k and renormalised: mathematically softmax over the chosen logits, which
// is what is computed (transformers' Qwen3.5 MoE: always renormalised).
// Experts come in descending order of logit; equal logits go to the lower index. A logit that is not finite counts as
// lower than every finite one, so an id is always below n_experts.
// GPU set: one workgroup a row, each expert counts those before it; CPU set: one thread a row. All f32.
// Bytes moved: n_experts * 4 read and top_k * 8 written a row.
#include "kernels/step.hpp"

namespace ztvm::kernels {

inline constexpr std::uint32_t k_max_experts = 1024;
inline constexpr std::uint32_t k_max_top_k = 16;

struct Route {
  std::uint32_t n_experts = 0;  // at most k_max_experts
  std::uint32_t top_k = 0;      // at most k_max_top_k and n_experts
  std::uint32_t stride = 0;     // columns of logits, at least n_experts
  gpu::Tensor step;             // Step
  gpu::Tensor logits;           // [max_rows, stride] f32; columns 0..n_experts-1 are experts
  gpu::Tensor ids;              // [max_rows, top_k] u32
  gpu::Tensor weights;          // [max_rows, top_k] f32, of sum 1
};

void route(gpu::Recording& recording, std::string_view name, const Route& args);

struct RouteShape {
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  std::uint32_t stride = 0;
};

// The oracle, on bindings step, logits, ids, weights.
void route_reference(std::span<const gpu::HostView> views, const RouteShape& shape);

}  // namespace ztvm::kernels
