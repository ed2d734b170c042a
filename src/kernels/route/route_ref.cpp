#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/route/route.hpp"

namespace ztvm::kernels {

void route_reference(std::span<const gpu::HostView> views, const RouteShape& shape) {
  const std::size_t n_rows = load_step(views[0]).n_rows;
  constexpr double k_lowest = std::numeric_limits<float>::lowest();
  std::vector<double> logits(shape.n_experts);
  std::vector<std::uint32_t> order(shape.n_experts);
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t e = 0; e < shape.n_experts; ++e) {
      const float logit = views[1].load(row * shape.stride + e);
      logits[e] = std::isfinite(logit) ? double{logit} : 2.0 * k_lowest;  // below every finite one
    }
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    const auto weight_of = [&](std::uint32_t expert) {
      return std::exp(std::max(logits[expert], k_lowest) - std::max(logits[order[0]], k_lowest));
    };
    double sum = 0.0;
    for (std::size_t i = 0; i < shape.top_k; ++i) sum += weight_of(order[i]);
    for (std::size_t i = 0; i < shape.top_k; ++i) {
      const std::size_t at = row * shape.top_k + i;
      views[2].set_word(at, order[i]);
      views[3].store(at, static_cast<float>(weight_of(order[i]) / sum));
    }
  }
}

}  // namespace ztvm::kernels
