#include <cmath>

#include "kernels/gated_norm/gated_norm.hpp"

namespace ztvm::kernels {

void gated_norm_reference(std::span<const gpu::HostView> views, const GatedNormShape& shape) {
  const std::size_t n_rows = load_step(views[0]).n_rows;
  const gpu::HostView& o = views[1];
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t head = 0; head < shape.n_heads; ++head) {
      const std::size_t first = (row * shape.n_heads + head) * shape.head_dim;
      const std::size_t first_gate = row * shape.x_stride + shape.first + head * shape.head_dim;
      double sum = 0.0;
      for (std::size_t i = 0; i < shape.head_dim; ++i) sum += double{o.load(first + i)} * o.load(first + i);
      const double scale = 1.0 / std::sqrt(sum / shape.head_dim + double{shape.eps});
      for (std::size_t i = 0; i < shape.head_dim; ++i) {
        const double z = views[2].load(first_gate + i);
        const double gate = z / (1.0 + std::exp(-z));
        views[4].store(first + i, static_cast<float>(o.load(first + i) * scale * views[3].load(i) * gate));
      }
    }
  }
}

}  // namespace ztvm::kernels
