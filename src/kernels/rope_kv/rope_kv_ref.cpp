#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::kernels {
namespace {

// Copies a head with its first `n_rotated` elements rotated in halves.
void rotate_head(const gpu::HostView& from, std::size_t source, const gpu::HostView& to, std::size_t target,
                 const gpu::HostView& rope, std::size_t position, std::size_t head_dim,
                 std::size_t n_rotated) {
  const std::size_t half = n_rotated / 2;
  for (std::size_t j = 0; j < half; ++j) {
    const double c = rope.load((position * half + j) * 2);
    const double s = rope.load((position * half + j) * 2 + 1);
    const double a = from.load(source + j);
    const double b = from.load(source + half + j);
    to.store(target + j, static_cast<float>(a * c - b * s));
    to.store(target + half + j, static_cast<float>(b * c + a * s));
  }
  for (std::size_t i = n_rotated; i < head_dim; ++i) to.store(target + i, from.load(source + i));
}

}  // namespace

void rope_kv_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                       std::uint32_t n_rotated) {
  const Step step = load_step(views[0]);
  const gpu::HostView& qkv = views[1];
  const gpu::HostView& rope = views[2];
  const gpu::HostView& pages = views[3];
  const std::size_t n_all_heads = shape.n_heads + 2 * shape.n_kv_heads;
  for (std::size_t row = 0; row < step.n_rows; ++row) {
    const std::size_t position = step.position + row;
    const auto source = [&](std::size_t head) { return (row * n_all_heads + head) * shape.head_dim; };
    for (std::size_t h = 0; h < shape.n_heads; ++h) {
      rotate_head(qkv, source(h), views[4], (row * shape.n_heads + h) * shape.head_dim, rope, position,
                  shape.head_dim, n_rotated);
    }
    for (std::size_t h = 0; h < shape.n_kv_heads; ++h) {
      const std::size_t target = cache_index(shape, pages, h, position);
      rotate_head(qkv, source(shape.n_heads + h), views[5], target, rope, position, shape.head_dim,
                  n_rotated);
      rotate_head(qkv, source(shape.n_heads + shape.n_kv_heads + h), views[6], target, rope, position,
                  shape.head_dim, 0);
    }
  }
}

}  // namespace ztvm::kernels
