#pragma once
// Matrix product of a sparse mixture of experts: each pair (row, slot) of a pass is multiplied with the weights of its
// expert, out[p, n] = sum_k x[p, k] * W[ids[p], n, k] for pair p = row * top_k + slot, then an epilogue.
// Two forms. By slot, for few rows: each pair reads its expert's weights. By group, for many: after group_experts, an
// expert's weights are read once for a tile of its pairs; no grid depends on how the experts were chosen.
// GPU set by slot: one workgroup = four columns of a pair. By group: x as integers of 16 or 8 bits (quantise_input.hpp), one
// workgroup = a tile of an expert's pairs and columns, as in matmul; weights that are no such integers: one column of an
// expert's pairs, four at a time. CPU set: one thread = one column of a pair, or of an expert's.
// Accumulates in f32. Bytes moved: the weights of each pair's expert (by group: of each chosen expert, once for each
// tile of its pairs), x and out.
#include <optional>

#include "kernels/matmul/matmul.hpp"

namespace ztvm::kernels {

// What a row of x belongs to.
enum class ExpertInput : std::uint8_t {
  rows,   // x [max_rows, dim]: all experts of a row read the same (gate and up)
  pairs,  // x [max_rows * top_k, dim] (down)
};

// What group_experts made.
struct ExpertGroups {
  gpu::Tensor offsets;  // [n_experts + 1] u32
  gpu::Tensor order;    // [max_rows * top_k] u32
};

struct ExpertMatmul {
  // [n_experts * N, dim], expert by expert, and whole experts in each part. swiglu: an expert's N rows are its gate,
  // then its up.
  const Matrix& weights;
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  Epilogue epilogue = Epilogue::store_f32;  // or swiglu
  ExpertInput input = ExpertInput::rows;
  gpu::Tensor step;                    // Step
  gpu::Tensor x;                       // activation type; no padding
  gpu::Tensor ids;                     // [max_rows, top_k] u32, from route
  std::optional<ExpertGroups> groups;  // given: the form by group
  // Memory for the form by group that needs it, for rows of dim or, with pairs, of top_k * dim; without, others are taken.
  std::optional<QuantisedInput> quantised = std::nullopt;
  gpu::Tensor out;  // [max_rows * top_k, columns]: swiglu N / 2 of activation type, else N of f32
};

// Whether the form by group, with group_experts before it, is the better one: when an expert has a pair on average.
bool should_group_experts(std::uint32_t max_rows, std::uint32_t n_experts, std::uint32_t top_k);

void expert_matmul(gpu::Recording& recording, std::string_view name, const ExpertMatmul& args);

// One part of the weights.
struct ExpertMatmulShape {
  QuantKind kind = QuantKind::f32;
  std::uint32_t dim = 0;
  std::uint32_t n_out = 0;         // columns of out
  std::uint32_t first_expert = 0;  // of the part
  std::uint32_t n_experts = 0;     // of the part; pairs of others are left alone
  std::uint32_t top_k = 0;
  Epilogue epilogue = Epilogue::store_f32;
  ExpertInput input = ExpertInput::rows;
  bool by_group = false;
  // Of a QuantisedInput that stands for x: its bytes at x, its scales at binding 7; 0: none.
  std::uint32_t planes = 0;
};

// The oracle, on bindings words, scales, step, x, out, then ids or (by group) offsets, order, and the scales of x.
void expert_matmul_reference(std::span<const gpu::HostView> views, const ExpertMatmulShape& shape);

}  // namespace ztvm::kernels
