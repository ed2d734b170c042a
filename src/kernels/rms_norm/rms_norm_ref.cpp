#include <cmath>

#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::kernels {

void rms_norm_reference(std::span<const gpu::HostView> views, std::uint32_t dim, float eps, Rows rows) {
  const Step step = load_step(views[0]);
  const std::size_t n_rows = rows == Rows::all ? step.n_rows : 1;
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::size_t first = (rows == Rows::all ? row : step.n_rows - 1) * dim;
    double sum = 0.0;
    for (std::size_t i = 0; i < dim; ++i) sum += double{views[1].load(first + i)} * views[1].load(first + i);
    const double scale = 1.0 / std::sqrt(sum / dim + double{eps});
    for (std::size_t i = 0; i < dim; ++i) {
      views[3].store(row * dim + i, static_cast<float>(views[1].load(first + i) * scale * views[2].load(i)));
    }
  }
}

}  // namespace ztvm::kernels
