#pragma once
// Pairs (row, slot) of a pass in the order of their experts, so that expert_matmul reads an expert's weights once for
// several of its rows: a counting sort. A pair is the number row * top_k + slot; an expert's pairs stay in ascending
// order, so the result is the same each time.
// GPU set: one workgroup an expert, which counts the pairs of lower experts and its own, then writes its own; nothing
// is shared between workgroups. CPU set: one thread an expert. Grids do not depend on rows.
// Bytes moved: all ids twice for each expert, from cache.
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct GroupExperts {
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  gpu::Tensor step;  // Step
  gpu::Tensor ids;   // [max_rows, top_k] u32, each below n_experts
  gpu::Tensor
      offsets;        // [n_experts + 1] u32: expert e has the places offsets[e]..offsets[e + 1] - 1 of order
  gpu::Tensor order;  // [max_rows * top_k] u32: pairs; those beyond the pass's are not written
};

void group_experts(gpu::Recording& recording, std::string_view name, const GroupExperts& args);

// The oracle, on bindings step, ids, offsets, order.
void group_experts_reference(std::span<const gpu::HostView> views, std::uint32_t n_experts,
                             std::uint32_t top_k);

}  // namespace ztvm::kernels
