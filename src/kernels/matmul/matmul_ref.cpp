#include <cmath>

#include "kernels/matmul/matmul.hpp"

namespace ztvm::kernels {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

double silu(double v) { return v / (1.0 + std::exp(-v)); }

}  // namespace

void matmul_reference(std::span<const gpu::HostView> views, const MatmulShape& shape) {
  const std::size_t n_rows = shape.rows == Rows::all ? load_step(views[2]).n_rows : 1;
  const std::size_t dim = shape.dim;
  std::vector<float> x(n_rows * dim);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = views[3].load(i);
  std::vector<float> weights(dim);
  std::vector<float> up_weights(dim);
  for (std::uint32_t n = 0; n < shape.n_out; ++n) {
    load_row(views[0], views[1], shape.kind, n, weights);
    if (shape.epilogue == Epilogue::swiglu)
      load_row(views[0], views[1], shape.kind, shape.n_out + n, up_weights);
    const auto part = [&](const std::vector<float>& values, std::size_t first) {
      return std::span(values).subspan(first + shape.first_element, shape.n_elements);
    };
    for (std::size_t row = 0; row < n_rows; ++row) {
      double value = dot(part(x, row * dim), part(weights, 0));
      const std::size_t at = row * shape.out_stride + shape.out_first + n;
      if (shape.epilogue == Epilogue::swiglu)
        value = silu(value) * dot(part(x, row * dim), part(up_weights, 0));
      if (shape.epilogue == Epilogue::add_residual) value += views[4].load(at);
      views[4].store(at, static_cast<float>(value));
    }
  }
}

}  // namespace ztvm::kernels
