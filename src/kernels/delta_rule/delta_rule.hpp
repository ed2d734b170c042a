#pragma once
// The gated delta rule (Yang et al. 2024, arXiv 2412.06464; transformers' torch_recurrent_gated_delta_rule). For each
// value head, whose key head is h / (n_value_heads / n_key_heads), and each row, with k and q of length 1 and q scaled
// by key_dim^-0.5:
//   S *= exp(-exp(a_log) softplus(a + dt_bias));  S += k (sigmoid(b) (v - k^T S))^T;  out = q^T S
// Step form: one workgroup = 32 columns of a head's S, kept in registers over the rows of the pass; CPU set: one thread
// = 4 columns. Bytes moved: S once read and written; q and k of each row once for 32 columns.
// Chunked form, for passes of many rows on GPUs: delta_rule_chunks.hpp.
// Everything is f32. S is multiplied by contractions only, so errors of single rows add up and never grow.
#include <vector>

#include "kernels/step.hpp"

namespace ztvm::kernels {

struct DeltaRuleShape {
  std::uint32_t n_key_heads = 0;  // divides n_value_heads
  std::uint32_t n_value_heads = 0;
  std::uint32_t key_dim = 0;    // of a head, a multiple of 4, at most 256
  std::uint32_t value_dim = 0;  // of a head, a multiple of 4
  std::uint32_t x_stride = 0;   // elements of a row of x
  std::uint32_t first_b = 0;    // columns of x where b and a begin, n_value_heads each
  std::uint32_t first_a = 0;
};

// Rows of a chunk of the chunked form.
inline constexpr std::uint32_t k_delta_rule_chunk = 32;

struct DeltaRule {
  DeltaRuleShape shape;
  gpu::Tensor step;   // Step
  gpu::Tensor qkv;    // [max_rows, 2 n_key_heads key_dim + n_value_heads value_dim] activation type: q, k, v
  gpu::Tensor x;      // [max_rows, x_stride] activation type
  gpu::Tensor a_log;  // [n_value_heads] f32
  gpu::Tensor dt_bias;  // [n_value_heads] f32
  gpu::Tensor state;    // [n_value_heads, key_dim, value_dim] f32; zero at position 0
  gpu::Tensor out;      // [max_rows, n_value_heads, value_dim] f32
  gpu::Tensor scratch;  // [delta_rule_scratch()] f32, used inside the chunked form; no buffer: step form
  std::uint32_t chunk = k_delta_rule_chunk;  // rows of a chunk of that form, 16 or 32
};

// Elements of scratch for passes of up to `max_rows` rows; 0 where the step form is better. A recording of fewer rows
// may share it.
std::uint64_t delta_rule_scratch(const DeltaRuleShape& shape, const gpu::Target& target,
                                 std::uint32_t max_rows, std::uint32_t chunk = k_delta_rule_chunk);

void delta_rule(gpu::Recording& recording, std::string_view name, const DeltaRule& args);

// Elements of a row of qkv.
inline std::uint32_t qkv_elements(const DeltaRuleShape& shape) {
  return 2 * shape.n_key_heads * shape.key_dim + shape.n_value_heads * shape.value_dim;
}

// The constants of delta_rule_heads and delta_rule_gates.
std::vector<gpu::Const> delta_rule_consts(const DeltaRuleShape& shape);

// Rows of a pass that one op works on.
struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t count = UINT32_MAX;
};

// Tolerance of both forms for a pass of `n_rows` rows: errors of rows add up, and out = q^T S can be a small difference of
// large terms in a real model, which a figure relative to out itself has to allow for (a factor of 16).
inline float delta_rule_tolerance(const DeltaRuleShape& shape, std::size_t n_rows) {
  return 16.0f * gpu::sum_tolerance(std::size_t{shape.key_dim} * n_rows, gpu::Dtype::f32);
}

// The oracle, on bindings step, qkv, x, a_log, dt_bias, state, out.
void delta_rule_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                          const RowRange& rows = {});

}  // namespace ztvm::kernels
