#pragma once
// Sum of a sparse mixture of experts into the residual stream:
// x[r] += sum_s weights[r, s] * down[r * top_k + s] + sigmoid(gate[r]) * shared[r]
// (transformers' Qwen3.5 MoE; the gate, shared_expert_gate, is a column of the router's logits).
// One thread = four elements of a row, in both sets. All f32.
// Bytes moved: dim * 4 * (top_k + 3) a row.
#include <optional>

#include "kernels/step.hpp"

namespace ztvm::kernels {

// The expert that every row has.
struct SharedExpert {
  gpu::Tensor logits;             // [max_rows, stride] f32, the router's
  std::uint32_t stride = 0;       // columns of logits
  std::uint32_t gate_column = 0;  // that of the gate, before its sigmoid
  gpu::Tensor shared;             // [max_rows, dim] f32
};

struct Combine {
  std::uint32_t dim = 0;  // a multiple of 4
  std::uint32_t top_k = 0;
  gpu::Tensor step;     // Step
  gpu::Tensor weights;  // [max_rows, top_k] f32, from route
  gpu::Tensor down;     // [max_rows * top_k, dim] f32
  std::optional<SharedExpert> shared;
  gpu::Tensor x;  // [max_rows, dim] f32, residual stream
};

void combine(gpu::Recording& recording, std::string_view name, const Combine& args);

struct CombineShape {
  std::uint32_t dim = 0;
  std::uint32_t top_k = 0;
  bool has_shared = false;
  std::uint32_t stride = 0;
  std::uint32_t gate_column = 0;
};

// The oracle, on bindings step, weights, down, x, then logits and shared if there are.
void combine_reference(std::span<const gpu::HostView> views, const CombineShape& shape);

}  // namespace ztvm::kernels
