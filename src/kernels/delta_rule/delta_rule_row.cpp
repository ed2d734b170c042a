#include "kernels/delta_rule/delta_rule_row.hpp"

#include <algorithm>
#include <cmath>

namespace ztvm::kernels {
namespace {

double softplus(double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); }

// Gives `values` the length `length`, and returns what it multiplied them by.
double normalise(std::vector<double>& values, double length) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  const double factor = length / std::sqrt(sum + 1e-6);
  for (double& value : values) value *= factor;
  return factor;
}

std::vector<double> load(const gpu::HostView& view, std::size_t first, std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = view.load(first + i);
  return values;
}

}  // namespace

QkvPlace qkv_place(const DeltaRuleShape& shape, std::size_t row, std::size_t head) {
  const std::size_t first = row * qkv_elements(shape);
  const std::size_t n_keys = std::size_t{shape.n_key_heads} * shape.key_dim;
  const std::size_t q = first + head / (shape.n_value_heads / shape.n_key_heads) * shape.key_dim;
  return {.q = q, .k = q + n_keys, .v = first + 2 * n_keys + head * shape.value_dim};
}

DeltaRow load_delta_row(std::span<const gpu::HostView> views, const DeltaRuleShape& shape, std::size_t row,
                        std::size_t head) {
  DeltaRow result = {.q = std::vector<double>(shape.key_dim),
                     .k = std::vector<double>(shape.key_dim),
                     .v = std::vector<double>(shape.value_dim)};
  if (row < load_step(views[0]).n_rows) {
    const QkvPlace place = qkv_place(shape, row, head);
    result.q = load(views[1], place.q, shape.key_dim);
    result.k = load(views[1], place.k, shape.key_dim);
    result.v = load(views[1], place.v, shape.value_dim);
    const double b = views[2].load(row * shape.x_stride + shape.first_b + head);
    const double a = double{views[2].load(row * shape.x_stride + shape.first_a + head)} + views[4].load(head);
    result.strength = 1.0 / (1.0 + std::exp(-b));
    result.log_decay = -std::exp(double{views[3].load(head)}) * softplus(a);
  }
  result.q_factor = normalise(result.q, 1.0 / std::sqrt(static_cast<double>(shape.key_dim)));
  result.k_factor = normalise(result.k, 1.0);
  return result;
}

}  // namespace ztvm::kernels
