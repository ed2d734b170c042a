#pragma once
// What the delta rule's oracles read of one row of one value head.
#include <vector>

#include "kernels/delta_rule/delta_rule.hpp"

namespace ztvm::kernels {

struct DeltaRow {
  std::vector<double> q;  // [key_dim] of length key_dim^-0.5
  std::vector<double> k;  // [key_dim] of length 1
  std::vector<double> v;  // [value_dim]
  double q_factor = 0.0;  // what q and k were multiplied by
  double k_factor = 0.0;
  double log_decay = 0.0;  // at most 0
  double strength = 0.0;   // 0 to 1
};

// On bindings step, qkv, x, a_log, dt_bias. A row of zeros, which decays nothing, if `row` isn't in the pass.
DeltaRow load_delta_row(std::span<const gpu::HostView> views, const DeltaRuleShape& shape, std::size_t row,
                        std::size_t head);

// First elements of a head's q, k and v in qkv.
struct QkvPlace {
  std::size_t q = 0;
  std::size_t k = 0;
  std::size_t v = 0;
};
QkvPlace qkv_place(const DeltaRuleShape& shape, std::size_t row, std::size_t head);

}  // namespace ztvm::kernels
