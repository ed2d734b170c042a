#include "kernels/case_builder.hpp"

#include <bit>
#include <cmath>
#include <cstring>
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

// A level times its sub-scale as it comes out of random bits: what d is divided by to keep outputs near 1.
float typical_level(QuantKind kind) {
  switch (kind) {
    case QuantKind::q3: return 4.0f;
    case QuantKind::q4: return 8.0f;
    case QuantKind::q4_k: return 32.0f * 8.0f;
    case QuantKind::q5_k: return 32.0f * 16.0f;
    case QuantKind::q6_k: return 74.0f * 18.0f;
    default: return 128.0f;
  }
}

// The middle of the levels, which m takes off: it centres most groups, and is free in the others.
float centre(QuantKind kind) { return static_cast<float>(1u << (QuantLayout{.kind = kind}.word_bits() - 1)); }

std::uint32_t pack_halves(float low, float high) {
  return float_to_half(low) | (std::uint32_t{float_to_half(high)} << 16);
}

// Scales of groups (q8, q4, q3) or super-blocks: d of each, then random sub-scales.
std::vector<std::uint32_t> make_scales(QuantKind kind, std::size_t n, std::uint32_t dim, Fill fill,
                                       Random& random) {
  const bool super_blocks = QuantLayout{.kind = kind}.has_super_blocks();
  const float unit =
      is_exact(fill) ? 0.0625f : 2.0f / (typical_level(kind) * std::sqrt(static_cast<float>(dim)));
  std::vector<float> d(n, unit);
  if (!is_exact(fill)) {
    d = make_values(fill, n, random);
    for (float& value : d) value *= unit;
  }
  std::vector<std::uint32_t> scales;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_free = i % 4 == 3 && !is_exact(fill);
    if (!super_blocks) {
      scales.push_back(pack_halves(d[i], is_free ? d[random.below(4)] : -centre(kind) * d[i]));
      continue;
    }
    const float dmin = is_free ? d[random.below(4)] : centre(kind) * d[i];
    const bool is_q6_k = kind == QuantKind::q6_k;
    scales.push_back(is_q6_k ? std::bit_cast<std::uint32_t>(round_to_half(d[i])) : pack_halves(d[i], dmin));
    for (std::size_t word = 0; word < 4; ++word) {
      const auto bits = static_cast<std::uint32_t>(random.next());
      scales.push_back(is_q6_k ? bits
                               : bits & 0x3F3F3F3Fu);  // files have six bits for those of q4_k and q5_k
    }
  }
  return scales;
}

// Values as f16 or bf16, two a word, or as f32.
std::vector<std::uint32_t> pack_values(QuantKind kind, std::span<const float> values) {
  const QuantisedRows rows = quantise_rows(kind, values, narrow<std::uint32_t>(values.size()));
  std::vector<std::uint32_t> packed(rows.words.size() / 4);
  std::memcpy(packed.data(), rows.words.data(), rows.words.size());
  return packed;
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
  if (dtype == gpu::Dtype::i8_groups) {
    std::vector<std::byte> bytes(narrow<std::size_t>(gpu::dtype_bytes(dtype, values.size())));
    gpu::HostView{.bytes = bytes, .dtype = dtype}.store_all(0, values);
    return upload(bytes, dtype);
  }
  check(dtype == gpu::Dtype::f16, "tensors of a case are f32, f16 or i8_groups");
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

QuantisedInput CaseBuilder::quantised_input(std::uint32_t max_rows, std::uint32_t dim) {
  const std::uint64_t n_words = quantised_words(max_rows, dim, input_planes(target_));
  const auto n_scales = narrow<std::size_t>(quantised_scales(max_rows, dim));
  return {.bytes = stale_words(narrow<std::size_t>(n_words)),
          .scales = tensor(gpu::Dtype::f32, n_scales, Fill::normal)};
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
  Matrix matrix = {.rows = rows, .dim = dim, .parts = {}};
  const std::uint32_t rows_per_part = round_up(div_up(rows, n_parts), unit_rows);
  for (std::uint32_t first = 0; first < rows; first += rows_per_part) {
    MatrixPart part = matrix_part(kind, std::min(rows_per_part, rows - first), dim, fill);
    part.first_row = first;
    matrix.parts.push_back(part);
  }
  return matrix;
}

Matrix CaseBuilder::mixed_matrix(std::span<const QuantKind> kinds, std::uint32_t rows_per_part,
                                 std::uint32_t dim, Fill fill) {
  Matrix matrix = {.rows = 0, .dim = dim, .parts = {}};
  for (const QuantKind kind : kinds) {
    MatrixPart part = matrix_part(kind, rows_per_part, dim, fill);
    part.first_row = matrix.rows;
    matrix.parts.push_back(part);
    matrix.rows += rows_per_part;
  }
  return matrix;
}

MatrixPart CaseBuilder::matrix_part(QuantKind kind, std::uint32_t rows, std::uint32_t dim, Fill fill) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  MatrixPart part = {.kind = kind, .n_rows = rows};
  if (!layout.has_scales()) {
    std::vector<float> values = make_values(fill, std::size_t{rows} * dim, random_);
    const float unit = is_exact(fill) ? 1.0f : 1.0f / std::sqrt(static_cast<float>(dim));
    for (float& value : values) value *= unit;
    part.words = words(pack_values(kind, values));
    part.scales = part.words;
    return part;
  }
  const std::uint32_t scaled = layout.has_super_blocks() ? k_quant_super_block : k_quant_group;
  part.words = stale_words(narrow<std::size_t>(rows * layout.words_bytes_per_row() / 4));
  part.scales = words(make_scales(kind, std::size_t{rows} * (dim / scaled), dim, fill, random_));
  return part;
}

}  // namespace ztvm::kernels
