#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/attention.hpp"

namespace ztvm::kernels {

void attention_reference(std::span<const gpu::HostView> views, const AttentionShape& shape) {
  const Step step = load_step(views[0]);
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  std::vector<double> weights;
  for (std::size_t row = 0; row < step.n_rows; ++row) {
    const std::size_t n_keys = step.position + row + 1;
    for (std::size_t head = 0; head < shape.n_heads; ++head) {
      const std::size_t kv_head = head / (shape.n_heads / shape.n_kv_heads);
      const std::size_t at = (row * shape.n_heads + head) * shape.head_dim;
      weights.assign(n_keys, 0.0);
      for (std::size_t k = 0; k < n_keys; ++k) {
        const std::size_t first = cache_index(shape, views[2].dtype, views[4], kv_head, k);
        for (std::size_t i = 0; i < shape.head_dim; ++i) {
          weights[k] += double{views[1].load(at + i)} * views[2].load(first + i);
        }
        weights[k] *= scale;
      }
      const double highest = *std::max_element(weights.begin(), weights.end());
      double sum = 0.0;
      for (double& w : weights) sum += w = std::exp(w - highest);
      std::vector<double> out(shape.head_dim, 0.0);
      for (std::size_t k = 0; k < n_keys; ++k) {
        const std::size_t first = cache_index(shape, views[2].dtype, views[4], kv_head, k);
        for (std::size_t i = 0; i < shape.head_dim; ++i) out[i] += weights[k] * views[3].load(first + i);
      }
      for (std::size_t i = 0; i < shape.head_dim; ++i)
        views[5].store(at + i, static_cast<float>(out[i] / sum));
    }
  }
}

}  // namespace ztvm::kernels
