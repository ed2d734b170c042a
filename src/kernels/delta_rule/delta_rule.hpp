#pragma once
// The gated delta rule (Yang et al. 2024, arXiv 2412.06464; transformers' torch_recurrent_gated_delta_rule). For each
// value head, whose key head is h / (n_value_heads / n_key_heads), and each row, with k and q of length 1 and q scaled
// by key_dim^-0.5:
//   S *= exp(-exp(a_log) softplus(a + dt_bias));  S += k (sigmoid(b) (v - k^T S))^T;  out = q^T S
// Step form: one workgroup = 32 columns of a head's S, kept in registers over the rows of the pass; CPU set: one thread
// = 4 columns. Bytes moved: S once read and written; q and k of each row once for 32 columns.
// Everything is f32. S is multiplied by contractions only, so errors of single rows add up and never grow.
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

struct DeltaRule {
  DeltaRuleShape shape;
  gpu::Tensor step;   // Step
  gpu::Tensor qkv;    // [max_rows, 2 n_key_heads key_dim + n_value_heads value_dim] activation type: q, k, v
  gpu::Tensor x;      // [max_rows, x_stride] activation type
  gpu::Tensor a_log;  // [n_value_heads] f32
  gpu::Tensor dt_bias;  // [n_value_heads] f32
  gpu::Tensor state;    // [n_value_heads, key_dim, value_dim] f32; zero at position 0
  gpu::Tensor out;      // [max_rows, n_value_heads, value_dim] f32
};

void delta_rule(gpu::Recording& recording, std::string_view name, const DeltaRule& args);

// Elements of a row of qkv.
inline std::uint32_t qkv_elements(const DeltaRuleShape& shape) {
  return 2 * shape.n_key_heads * shape.key_dim + shape.n_value_heads * shape.value_dim;
}

// Rows of a pass that one op works on.
struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t count = UINT32_MAX;
};

// The oracle, on bindings step, qkv, x, a_log, dt_bias, state, out.
void delta_rule_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                          const RowRange& rows = {});

}  // namespace ztvm::kernels
