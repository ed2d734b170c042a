#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/attention_split.hpp"

namespace ztvm::kernels {

void attention_shares_reference(std::span<const gpu::HostView> views, const RopeKvShape& rope_shape,
                                std::uint32_t n_splits) {
  const AttentionShape& shape = rope_shape.heads;
  const Step step = load_step(views[0]);
  const gpu::HostView& pages = views[3];
  const gpu::HostView& keys = views[4];
  const gpu::HostView& values = views[5];
  const gpu::HostView& partials = views[6];
  const RotatedRow fresh = rotated_row(views, rope_shape, 0);
  store_kv(fresh, shape, pages, step.position, keys, values);
  // Of a head's key or value; the row's own are not read back.
  const auto load = [&](const gpu::HostView& cache, const std::vector<float>& own, std::size_t kv_head,
                        std::size_t key, std::size_t i) {
    if (key == step.position) return own[kv_head * shape.head_dim + i];
    return cache.load(cache_index(shape, cache.dtype, pages, kv_head, key) + i);
  };

  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  const std::size_t n_share_keys = split_form(shape).n_keys;
  const std::size_t n_keys = step.position + 1;
  for (std::size_t head = 0; head < shape.n_heads; ++head) {
    const std::size_t kv_head = head / (shape.n_heads / shape.n_kv_heads);
    for (std::size_t split = 0; split * n_share_keys < n_keys; ++split) {
      const std::size_t first_key = split * n_share_keys;
      const std::size_t last_key = std::min(first_key + n_share_keys, n_keys);
      std::vector<double> weights;
      for (std::size_t key = first_key; key < last_key; ++key) {
        double score = 0.0;
        for (std::size_t i = 0; i < shape.head_dim; ++i) {
          score += double{fresh.q[head * shape.head_dim + i]} * load(keys, fresh.k, kv_head, key, i);
        }
        weights.push_back(score * scale);
      }
      const double highest = *std::ranges::max_element(weights);
      double sum = 0.0;
      for (double& w : weights) sum += w = std::exp(w - highest);
      const std::size_t at = (head * n_splits + split) * share_elements(shape);
      for (std::size_t i = 0; i < shape.head_dim; ++i) {
        double out = 0.0;
        for (std::size_t key = first_key; key < last_key; ++key) {
          out += weights[key - first_key] * load(values, fresh.v, kv_head, key, i);
        }
        partials.store(at + i, static_cast<float>(out));
      }
      partials.store(at + shape.head_dim, static_cast<float>(highest));
      partials.store(at + shape.head_dim + 1, static_cast<float>(sum));
      partials.store(at + shape.head_dim + 2, 0.0f);
      partials.store(at + shape.head_dim + 3, 0.0f);
    }
  }
}

void attention_merge_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                               std::uint32_t n_splits) {
  const Step step = load_step(views[0]);
  const std::size_t n_active = div_up(step.position + 1, split_form(shape).n_keys);
  for (std::size_t head = 0; head < shape.n_heads; ++head) {
    const auto at = [&](std::size_t split) { return (head * n_splits + split) * share_elements(shape); };
    double highest = -INFINITY;
    for (std::size_t s = 0; s < n_active; ++s) {
      highest = std::max(highest, double{views[1].load(at(s) + shape.head_dim)});
    }
    double sum = 0.0;
    std::vector<double> out(shape.head_dim, 0.0);
    for (std::size_t s = 0; s < n_active; ++s) {
      const double factor = std::exp(views[1].load(at(s) + shape.head_dim) - highest);
      sum += factor * views[1].load(at(s) + shape.head_dim + 1);
      for (std::size_t i = 0; i < shape.head_dim; ++i) out[i] += factor * views[1].load(at(s) + i);
    }
    for (std::size_t i = 0; i < shape.head_dim; ++i) {
      views[2].store(head * shape.head_dim + i, static_cast<float>(out[i] / sum));
    }
  }
}

}  // namespace ztvm::kernels
