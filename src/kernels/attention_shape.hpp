#pragma once
// The shape that attention's kernels share, and the paged cache's addresses on the host.
#include <cstddef>
#include <cstdint>

#include "gpu/op.hpp"

namespace ztvm::kernels {

inline constexpr std::uint32_t k_page_slots = 16;

struct AttentionShape {
  std::uint32_t n_heads = 0;
  std::uint32_t n_kv_heads = 0;  // divides n_heads; query head h reads kv head h / (n_heads / n_kv_heads)
  std::uint32_t head_dim = 0;    // a multiple of 4, at most 256
};

// First element of a head's key or value at `position` in a cache [page][kv_head][slot][head_dim].
inline std::size_t cache_index(const AttentionShape& shape, const gpu::HostView& pages, std::size_t kv_head,
                               std::size_t position) {
  const std::size_t page = pages.word(position / k_page_slots);
  return ((page * shape.n_kv_heads + kv_head) * k_page_slots + position % k_page_slots) * shape.head_dim;
}

// Elements of a cache of keys or values with `n_pages` pages.
inline std::uint64_t cache_elements(const AttentionShape& shape, std::uint32_t n_pages) {
  return std::uint64_t{n_pages} * k_page_slots * shape.n_kv_heads * shape.head_dim;
}

}  // namespace ztvm::kernels
