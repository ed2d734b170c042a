#include <cmath>

#include "kernels/combine/combine.hpp"

namespace ztvm::kernels {

void combine_reference(std::span<const gpu::HostView> views, const CombineShape& shape) {
  const std::size_t n_rows = load_step(views[0]).n_rows;
  for (std::size_t row = 0; row < n_rows; ++row) {
    double gate = 0.0;
    if (shape.has_shared) {
      gate = 1.0 / (1.0 + std::exp(-double{views[4].load(row * shape.stride + shape.gate_column)}));
    }
    for (std::size_t i = 0; i < shape.dim; ++i) {
      const std::size_t at = row * shape.dim + i;
      double sum = views[3].load(at);
      for (std::size_t slot = 0; slot < shape.top_k; ++slot) {
        const std::size_t pair = row * shape.top_k + slot;
        sum += double{views[1].load(pair)} * views[2].load(pair * shape.dim + i);
      }
      if (shape.has_shared) sum += gate * views[5].load(at);
      views[3].store(at, static_cast<float>(sum));
    }
  }
}

}  // namespace ztvm::kernels
