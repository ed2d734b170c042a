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

// RMS norm of one row in place; the weight is binding 5.
void norm_row(std::span<float> row, const gpu::HostView& weight, float eps) {
  const double scale = 1.0 / std::sqrt(dot(row, row) / static_cast<double>(row.size()) + eps);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(row[i] * scale * weight.load(i));
}

}  // namespace

void matmul_reference(std::span<const gpu::HostView> views, const MatmulShape& shape) {
  const std::size_t n_pass_rows = load_step(views[2]).n_rows;
  const std::size_t n_rows = shape.rows == Rows::all ? n_pass_rows : 1;
  const std::size_t dim = shape.dim;
  const std::size_t first_x = shape.normed ? (n_pass_rows - n_rows) * dim : 0;
  std::vector<float> x(n_rows * dim);
  if (shape.planes == 0) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = views[3].load(first_x + i);
  } else {
    for (std::size_t row = 0; row < n_rows; ++row)
      load_quantised_row(views[3], views[5], shape.planes, shape.order, row,
                         std::span(x).subspan(row * dim, dim));
  }
  if (shape.normed) {
    for (std::size_t row = 0; row < n_rows; ++row)
      norm_row(std::span(x).subspan(row * dim, dim), views[5], shape.norm_eps);
  }
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
