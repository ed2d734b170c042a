#include <cmath>

#include "kernels/sigmoid_gate/sigmoid_gate.hpp"

namespace ztvm::kernels {

void sigmoid_gate_reference(std::span<const gpu::HostView> views, const SigmoidGateShape& shape) {
  const std::size_t n_rows = load_step(views[0]).n_rows;
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t i = 0; i < shape.dim; ++i) {
      const double gate =
          1.0 / (1.0 + std::exp(-double{views[1].load(row * shape.x_stride + shape.first + i)}));
      const std::size_t at = row * shape.dim + i;
      views[2].store(at, static_cast<float>(views[2].load(at) * gate));
    }
  }
}

}  // namespace ztvm::kernels
