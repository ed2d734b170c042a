#include <cmath>
#include <vector>

#include "kernels/causal_conv/causal_conv.hpp"

namespace ztvm::kernels {

void causal_conv_reference(std::span<const gpu::HostView> views, const CausalConvShape& shape) {
  const Step step = load_step(views[0]);
  const gpu::HostView& state = views[3];
  const std::size_t history = shape.width - 1;
  std::vector<float> rows(history + step.n_rows);  // of one channel: the state's, then the pass's
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::size_t i = 0; i < history; ++i)
      rows[i] = step.position == 0 ? 0.0f : state.load(i * shape.channels + c);
    for (std::size_t row = 0; row < step.n_rows; ++row)
      rows[history + row] = views[1].load(row * shape.x_stride + shape.first + c);
    for (std::size_t row = 0; row < step.n_rows; ++row) {
      double sum = 0.0;
      for (std::size_t j = 0; j < shape.width; ++j)
        sum += double{views[2].load(c * shape.width + j)} * rows[row + j];
      views[4].store(row * shape.channels + c, static_cast<float>(sum / (1.0 + std::exp(-sum))));
    }
    for (std::size_t i = 0; i < history; ++i) state.store(i * shape.channels + c, rows[step.n_rows + i]);
  }
}

}  // namespace ztvm::kernels
