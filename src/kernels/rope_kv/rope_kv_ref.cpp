#include <cmath>
#include <vector>

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

void store_head(const std::vector<double>& head, const gpu::HostView& to, std::size_t first) {
  for (std::size_t i = 0; i < head.size(); ++i) to.store(first + i, static_cast<float>(head[i]));
}

}  // namespace

void rope_kv_reference(std::span<const gpu::HostView> views, const RopeKvShape& shape) {
  const Step step = load_step(views[0]);
  const gpu::HostView& qkv = views[1];
  const gpu::HostView& rope = views[2];
  const gpu::HostView& pages = views[3];
  const AttentionShape& heads = shape.heads;
  const std::size_t head_dim = heads.head_dim;
  for (std::size_t row = 0; row < step.n_rows; ++row) {
    const std::size_t position = step.position + row;
    const auto load = [&](std::size_t head) {
      return load_head(qkv, (row * shape.row_heads + head) * head_dim, head_dim);
    };
    // A query head, or a key head, whose norm weights come second.
    const auto load_rotated = [&](std::size_t head) {
      std::vector<double> values = load(head);
      if (shape.has_norm) norm_head(values, views[7], head < heads.n_heads ? 0 : head_dim, shape.norm_eps);
      rotate_head(values, rope, position, shape.n_rotated);
      return values;
    };
    for (std::size_t h = 0; h < heads.n_heads; ++h) {
      store_head(load_rotated(h), views[4], (row * heads.n_heads + h) * head_dim);
    }
    for (std::size_t h = 0; h < heads.n_kv_heads; ++h) {
      const std::size_t target = cache_index(heads, pages, h, position);
      store_head(load_rotated(heads.n_heads + h), views[5], target);
      store_head(load(heads.n_heads + heads.n_kv_heads + h), views[6], target);
    }
  }
}

}  // namespace ztvm::kernels
