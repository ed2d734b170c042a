#include <cmath>

#include "kernels/expert_matmul/expert_matmul.hpp"

namespace ztvm::kernels {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

double silu(double v) { return v / (1.0 + std::exp(-v)); }

// The pairs of each expert of the part.
std::vector<std::vector<std::uint32_t>> pairs_of_experts(std::span<const gpu::HostView> views,
                                                         const ExpertMatmulShape& shape) {
  std::vector<std::vector<std::uint32_t>> pairs(shape.n_experts);
  if (shape.by_group) {
    for (std::uint32_t e = 0; e < shape.n_experts; ++e) {
      const std::uint32_t end = views[5].word(shape.first_expert + e + 1);
      for (std::uint32_t place = views[5].word(shape.first_expert + e); place < end; ++place) {
        pairs[e].push_back(views[6].word(place));
      }
    }
    return pairs;
  }
  const std::uint32_t n_pairs = load_step(views[2]).n_rows * shape.top_k;
  for (std::uint32_t pair = 0; pair < n_pairs; ++pair) {
    const std::uint32_t expert = views[5].word(pair);
    if (expert < shape.first_expert || expert - shape.first_expert >= shape.n_experts) continue;
    pairs[expert - shape.first_expert].push_back(pair);
  }
  return pairs;
}

// The rows of x of these pairs, one after the other.
std::vector<float> gather(std::span<const gpu::HostView> views, std::span<const std::uint32_t> pairs,
                          const ExpertMatmulShape& shape) {
  std::vector<float> rows(pairs.size() * shape.dim);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::size_t row = shape.input == ExpertInput::rows ? pairs[p] / shape.top_k : pairs[p];
    const std::span<float> out = std::span(rows).subspan(p * shape.dim, shape.dim);
    if (shape.planes == 0) {
      for (std::size_t i = 0; i < shape.dim; ++i) out[i] = views[3].load(row * shape.dim + i);
    } else {
      load_quantised_row(views[3], views[7], shape.planes, QuantisedOrder::by_group, row, out);
    }
  }
  return rows;
}

}  // namespace

void expert_matmul_reference(std::span<const gpu::HostView> views, const ExpertMatmulShape& shape) {
  const bool pair_of_mats = shape.epilogue == Epilogue::swiglu;
  const std::uint32_t expert_rows = pair_of_mats ? 2 * shape.n_out : shape.n_out;
  const auto pairs = pairs_of_experts(views, shape);
  std::vector<float> weights(shape.dim);
  std::vector<float> up_weights(shape.dim);
  for (std::uint32_t e = 0; e < shape.n_experts; ++e) {
    const std::vector<float> x = gather(views, pairs[e], shape);
    for (std::uint32_t n = 0; n < shape.n_out && !pairs[e].empty(); ++n) {
      load_row(views[0], views[1], shape.kind, e * expert_rows + n, weights);
      if (pair_of_mats)
        load_row(views[0], views[1], shape.kind, e * expert_rows + shape.n_out + n, up_weights);
      for (std::size_t i = 0; i < pairs[e].size(); ++i) {
        const auto row = std::span(x).subspan(i * shape.dim, shape.dim);
        double value = dot(row, weights);
        if (pair_of_mats) value = silu(value) * dot(row, up_weights);
        views[4].store(std::size_t{pairs[e][i]} * shape.n_out + n, static_cast<float>(value));
      }
    }
  }
}

}  // namespace ztvm::kernels
