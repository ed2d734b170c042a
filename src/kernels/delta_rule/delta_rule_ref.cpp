#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/delta_rule/delta_rule.hpp"

namespace ztvm::kernels {
namespace {

double softplus(double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); }

// `n` elements divided by their length and multiplied by `scale`.
std::vector<double> load_direction(const gpu::HostView& qkv, std::size_t first, std::size_t n, double scale) {
  std::vector<double> values(n);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = qkv.load(first + i);
    sum += values[i] * values[i];
  }
  for (double& value : values) value *= scale / std::sqrt(sum + 1e-6);
  return values;
}

// One row of one head: S [key_dim, value_dim] moves on, `v` becomes the output.
void advance_head(std::vector<double>& state, const std::vector<double>& q, const std::vector<double>& k,
                  std::vector<double>& v, double decay, double strength) {
  for (double& s : state) s *= decay;
  for (std::size_t j = 0; j < v.size(); ++j) {
    double predicted = 0.0;
    for (std::size_t i = 0; i < k.size(); ++i) predicted += k[i] * state[i * v.size() + j];
    const double correction = strength * (v[j] - predicted);
    v[j] = 0.0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      double& s = state[i * v.size() + j];
      s += k[i] * correction;
      v[j] += q[i] * s;
    }
  }
}

}  // namespace

void delta_rule_reference(std::span<const gpu::HostView> views, const DeltaRuleShape& shape,
                          const RowRange& rows) {
  const Step step = load_step(views[0]);
  const gpu::HostView& qkv = views[1];
  const gpu::HostView& x = views[2];
  const std::size_t last = std::min<std::size_t>(step.n_rows, std::size_t{rows.first} + rows.count);
  if (rows.first >= last) return;
  const std::size_t n_keys = std::size_t{shape.n_key_heads} * shape.key_dim;
  const double q_scale = 1.0 / std::sqrt(static_cast<double>(shape.key_dim));
  std::vector<double> state(std::size_t{shape.key_dim} * shape.value_dim);
  std::vector<double> v(shape.value_dim);
  for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
    const bool has_state = step.position > 0 || rows.first > 0;
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = has_state ? views[5].load(h * state.size() + i) : 0.0f;
    const std::size_t key_head = h / (shape.n_value_heads / shape.n_key_heads);
    for (std::size_t row = rows.first; row < last; ++row) {
      const std::size_t at = row * qkv_elements(shape);
      const std::size_t at_q = at + key_head * shape.key_dim;
      for (std::size_t j = 0; j < v.size(); ++j) v[j] = qkv.load(at + 2 * n_keys + h * v.size() + j);
      const double a = double{x.load(row * shape.x_stride + shape.first_a + h)} + views[4].load(h);
      const double b = x.load(row * shape.x_stride + shape.first_b + h);
      advance_head(state, load_direction(qkv, at_q, shape.key_dim, q_scale),
                   load_direction(qkv, at_q + n_keys, shape.key_dim, 1.0), v,
                   std::exp(-std::exp(double{views[3].load(h)}) * softplus(a)), 1.0 / (1.0 + std::exp(-b)));
      for (std::size_t j = 0; j < v.size(); ++j)
        views[6].store((row * shape.n_value_heads + h) * v.size() + j, static_cast<float>(v[j]));
    }
    for (std::size_t i = 0; i < state.size(); ++i)
      views[5].store(h * state.size() + i, static_cast<float>(state[i]));
  }
}

}  // namespace ztvm::kernels
