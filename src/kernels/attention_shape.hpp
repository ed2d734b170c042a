#pragma once
// The shape that attention's kernels share, and the paged cache's addresses on the host.
#include <cstddef>
#include <cstdint>

#include "base/int8_groups.hpp"
#include "gpu/op.hpp"

namespace ztvm::kernels {

inline constexpr std::uint32_t k_page_slots = 16;

struct AttentionShape {
  std::uint32_t n_heads = 0;
  std::uint32_t n_kv_heads = 0;  // divides n_heads; query head h reads kv head h / (n_heads / n_kv_heads)
  std::uint32_t head_dim = 0;    // a multiple of 4, at most 256
};

// Keys and values are stored in the activation type, or as gpu::Dtype::i8_groups, of which each head begins its own.
// The WGSL parts kv_float and kv_int8 (and *_write) stand in for each other.
inline bool is_int8(const gpu::Tensor& cache) { return cache.dtype == gpu::Dtype::i8_groups; }

// Elements between a head's keys or values of neighbouring positions: head_dim, in groups of int8 rounded up to whole ones.
inline std::uint32_t slot_elements(const AttentionShape& shape, gpu::Dtype cache) {
  constexpr auto k_group = static_cast<std::uint32_t>(k_int8_group);
  return cache == gpu::Dtype::i8_groups ? round_up(shape.head_dim, k_group) : shape.head_dim;
}

// First element of a head's key or value at `position` in a cache [page][kv_head][slot][slot_elements] of type `cache`.
inline std::size_t cache_index(const AttentionShape& shape, gpu::Dtype cache, const gpu::HostView& pages,
                               std::size_t kv_head, std::size_t position) {
  const std::size_t page = pages.word(position / k_page_slots);
  return ((page * shape.n_kv_heads + kv_head) * k_page_slots + position % k_page_slots) *
         slot_elements(shape, cache);
}

// Elements of a cache of keys or values with `n_pages` pages.
inline std::uint64_t cache_elements(const AttentionShape& shape, gpu::Dtype cache, std::uint32_t n_pages) {
  return std::uint64_t{n_pages} * k_page_slots * shape.n_kv_heads * slot_elements(shape, cache);
}

}  // namespace ztvm::kernels
