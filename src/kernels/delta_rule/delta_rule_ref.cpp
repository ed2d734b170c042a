#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/delta_rule/delta_rule.hpp"
#include "kernels/delta_rule/delta_rule_row.hpp"

namespace ztvm::kernels {
namespace {

// Moves S [key_dim, value_dim] on by one row, and returns the row's output.
std::vector<double> advance(std::vector<double>& state, const DeltaRow& row) {
  const std::size_t value_dim = row.v.size();
  const double decay = std::exp(row.log_decay);
  std::vector<double> out(value_dim);
  for (std::size_t j = 0; j < value_dim; ++j) {
    double predicted = 0.0;
    for (std::size_t i = 0; i < row.k.size(); ++i) predicted += row.k[i] * decay * state[i * value_dim + j];
    const double correction = row.strength * (row.v[j] - predicted);
    for (std::size_t i = 0; i < row.k.size(); ++i) {
      double& s = state[i * value_dim + j];
      s = decay * s + row.k[i] * correction;
      out[j] += row.q[i] * s;
    }
  }
  return out;
}

}  // namespace

void delta_rule_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                          const RowRange& rows) {
  const Step step = load_step(views[0]);
  const std::size_t last = std::min<std::size_t>(step.n_rows, std::size_t{rows.first} + rows.count);
  if (rows.first >= last) return;
  const bool has_state = step.position > 0 || rows.first > 0;
  std::vector<double> state(std::size_t{shape.key_dim} * shape.value_dim);
  for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
    const std::size_t first = h * state.size();
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = has_state ? views[5].load(first + i) : 0.0f;
    for (std::size_t row = rows.first; row < last; ++row) {
      const std::vector<double> out = advance(state, load_delta_row(views, shape, row, h));
      const std::size_t at = (row * shape.n_value_heads + h) * shape.value_dim;
      for (std::size_t j = 0; j < out.size(); ++j) views[6].store(at + j, static_cast<float>(out[j]));
    }
    for (std::size_t i = 0; i < state.size(); ++i) views[5].store(first + i, static_cast<float>(state[i]));
  }
}

}  // namespace ztvm::kernels
