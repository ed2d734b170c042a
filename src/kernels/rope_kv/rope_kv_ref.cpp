#include <cmath>
#include <vector>

#include "base/half.hpp"
#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::kernels {
namespace {

std::vector<double> load_head(const gpu::HostView& qkv, std::size_t first, std::size_t head_dim) {
  std::vector<double> head(head_dim);
  for (std::size_t i = 0; i < head_dim; ++i) head[i] = qkv.load(first + i);
  return head;
}

// RMS norm of a head with the weights from `first` on.
void norm_head(std::vector<double>& head, const gpu::HostView& weights, std::size_t first, float eps) {
  double sum = 0.0;
  for (const double value : head) sum += value * value;
  const double scale = 1.0 / std::sqrt(sum / static_cast<double>(head.size()) + double{eps});
  for (std::size_t i = 0; i < head.size(); ++i) head[i] *= scale * weights.load(first + i);
}

// Rotates the first `n_rotated` elements of a head, in halves.
void rotate_head(std::vector<double>& head, const gpu::HostView& rope, std::size_t position,
                 std::size_t n_rotated) {
  const std::size_t half = n_rotated / 2;
  for (std::size_t j = 0; j < half; ++j) {
    const double c = rope.load((position * half + j) * 2);
    const double s = rope.load((position * half + j) * 2 + 1);
    const double a = head[j];
    const double b = head[half + j];
    head[j] = a * c - b * s;
    head[half + j] = b * c + a * s;
  }
}

void append_rounded(std::vector<float>& to, const std::vector<double>& head, gpu::Dtype dtype) {
  for (const double value : head) {
    const auto rounded = static_cast<float>(value);
    to.push_back(dtype == gpu::Dtype::f16 ? round_to_half(rounded) : rounded);
  }
}

}  // namespace

RotatedRow rotated_row(std::span<const gpu::HostView> views, const RopeKvShape& shape, std::size_t row) {
  const gpu::HostView& qkv = views[1];
  const AttentionShape& heads = shape.heads;
  const std::size_t head_dim = heads.head_dim;
  const std::size_t position = load_step(views[0]).position + row;
  const std::size_t n_rotated_heads = heads.n_heads + heads.n_kv_heads;
  RotatedRow rotated;
  for (std::size_t h = 0; h < n_rotated_heads + heads.n_kv_heads; ++h) {
    std::vector<double> values = load_head(qkv, (row * shape.row_heads + h) * head_dim, head_dim);
    const bool is_query = h < heads.n_heads;
    if (h < n_rotated_heads) {
      // The norm weights of keys come second.
      if (shape.has_norm) norm_head(values, views[7], is_query ? 0 : head_dim, shape.norm_eps);
      rotate_head(values, views[2], position, shape.n_rotated);
    }
    append_rounded(is_query ? rotated.q : h < n_rotated_heads ? rotated.k : rotated.v, values, qkv.dtype);
  }
  return rotated;
}

void store_kv(const RotatedRow& row, const AttentionShape& shape, const gpu::HostView& pages,
              std::size_t position, const gpu::HostView& keys, const gpu::HostView& values) {
  for (std::size_t h = 0; h < shape.n_kv_heads; ++h) {
    const std::size_t target = cache_index(shape, keys.dtype, pages, h, position);
    keys.store_all(target, std::span(row.k).subspan(h * shape.head_dim, shape.head_dim));
    values.store_all(target, std::span(row.v).subspan(h * shape.head_dim, shape.head_dim));
  }
}

void rope_kv_reference(std::span<const gpu::HostView> views, const RopeKvShape& shape) {
  const Step step = load_step(views[0]);
  for (std::size_t row = 0; row < step.n_rows; ++row) {
    const RotatedRow rotated = rotated_row(views, shape, row);
    views[4].store_all(row * rotated.q.size(), rotated.q);
    store_kv(rotated, shape.heads, views[3], step.position + row, views[5], views[6]);
  }
}

}  // namespace ztvm::kernels
