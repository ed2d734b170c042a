#include "kernels/case_builder.hpp"

#include <cmath>
#include <numeric>

#include "base/half.hpp"

namespace ztvm::kernels {
namespace {

std::vector<std::uint16_t> to_halves(std::span<const float> values) {
  std::vector<std::uint16_t> halves(round_up<std::size_t>(values.size(), 2));
  for (std::size_t i = 0; i < values.size(); ++i) halves[i] = float_to_half(values[i]);
  return halves;
}

bool is_exact(Fill fill) { return fill == Fill::constant || fill == Fill::integers; }

// Scales words of `n_groups` groups: d keeps outputs near 1, m centres most q4 groups and is free in the others.
std::vector<std::uint32_t> make_scales(QuantKind kind, std::size_t n_groups, std::uint32_t dim, Fill fill,
                                       Random& random) {
  const float largest = kind == QuantKind::q4 ? 8.0f : 128.0f;
  const float unit = is_exact(fill) ? 0.0625f : 2.0f / (largest * std::sqrt(static_cast<float>(dim)));
  std::vector<float> d(n_groups, unit);
  if (!is_exact(fill)) {
    d = make_values(fill, n_groups, random);
    for (float& value : d) value *= unit;
  }
  std::vector<std::uint32_t> scales(n_groups);
  for (std::size_t g = 0; g < n_groups; ++g) {
    float m = 0.0f;
    if (kind == QuantKind::q4) m = g % 4 == 3 && !is_exact(fill) ? d[random.below(4)] : -8.0f * d[g];
    scales[g] = float_to_half(d[g]) | (std::uint32_t{float_to_half(m)} << 16);
  }
  return scales;
}

}  // namespace

gpu::Tensor CaseBuilder::upload(Bytes bytes, gpu::Dtype dtype) {
  if (!status_) return {};
  auto buffer = gpu::make_buffer(device_, bytes.size(), "case");
  if (!buffer) {
    status_ = forward(buffer);
    return {};
  }
  device_.write(buffer->id(), 0, bytes);
  buffers_.push_back(std::move(*buffer));
  return {buffers_.back().id(), dtype};
}

gpu::Tensor CaseBuilder::tensor(gpu::Dtype dtype, std::span<const float> values) {
  if (dtype == gpu::Dtype::f32) return upload(std::as_bytes(values), dtype);
  check(dtype == gpu::Dtype::f16, "tensors of a case are f32 or f16");
  return upload(as_bytes(to_halves(values)), dtype);
}

gpu::Tensor CaseBuilder::words(std::span<const std::uint32_t> values) {
  return upload(std::as_bytes(values), gpu::Dtype::u32);
}

gpu::Tensor CaseBuilder::stale_words(std::size_t n) {
  std::vector<std::uint32_t> values(n);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random_.next());
  return words(values);
}

gpu::Tensor CaseBuilder::step(const Step& step) {
  n_rows_ = step.n_rows;
  return upload(std::as_bytes(std::span(&step, 1)), gpu::Dtype::u32);
}

gpu::Tensor CaseBuilder::pages(std::uint32_t n_pages) {
  std::vector<std::uint32_t> table(n_pages);
  std::iota(table.begin(), table.end(), 0u);
  for (std::uint32_t i = n_pages; i > 1; --i) std::swap(table[i - 1], table[random_.below(i)]);
  return words(table);
}

gpu::Tensor CaseBuilder::expert_ids(std::uint32_t rows, std::uint32_t top_k, std::uint32_t n_candidates) {
  check(top_k <= n_candidates, "a row chooses different experts");
  std::vector<std::uint32_t> experts(n_candidates);
  std::iota(experts.begin(), experts.end(), 0u);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = 0; i < top_k; ++i) {
      std::swap(experts[i], experts[i + random_.below(n_candidates - i)]);
      ids.push_back(experts[i]);
    }
  }
  return words(ids);
}

Matrix CaseBuilder::matrix(QuantKind kind, std::uint32_t rows, std::uint32_t dim, Fill fill,
                           std::uint32_t n_parts, std::uint32_t unit_rows) {
  Matrix matrix = {.kind = kind, .rows = rows, .dim = dim, .parts = {}};
  const std::uint32_t rows_per_part = round_up(div_up(rows, n_parts), unit_rows);
  for (std::uint32_t first = 0; first < rows; first += rows_per_part) {
    MatrixPart part = matrix_part(kind, std::min(rows_per_part, rows - first), dim, fill);
    part.first_row = first;
    matrix.parts.push_back(part);
  }
  return matrix;
}

MatrixPart CaseBuilder::matrix_part(QuantKind kind, std::uint32_t rows, std::uint32_t dim, Fill fill) {
  MatrixPart part;
  part.n_rows = rows;
  const std::size_t n = std::size_t{rows} * dim;
  if (!QuantLayout{.kind = kind, .dim = dim}.has_scales()) {
    std::vector<float> values = make_values(fill, n, random_);
    const float unit = is_exact(fill) ? 1.0f : 1.0f / std::sqrt(static_cast<float>(dim));
    for (float& value : values) value *= unit;
    part.words = tensor(kind == QuantKind::f16 ? gpu::Dtype::f16 : gpu::Dtype::f32, values);
    part.words.dtype = gpu::Dtype::u32;
    part.scales = part.words;
    return part;
  }
  part.words = stale_words(n / (kind == QuantKind::q4 ? 8 : 4));
  part.scales = words(make_scales(kind, n / k_quant_group, dim, fill, random_));
  return part;
}

}  // namespace ztvm::kernels
