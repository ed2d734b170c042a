#pragma once
// Attention of one row on a GPU with the keys split among workgroups (split-K, as flash decoding does): each sums its
// share with a maximum of its own, then a second op merges the shares.
// Bytes moved: keys and values once for every four query heads that share them.
#include "kernels/attention/attention.hpp"

namespace ztvm::kernels {

inline constexpr std::uint32_t k_split_keys = 64;  // keys of a share

// One share of one head: head_dim sums, then maximum and sum of the weights, padded to a quad.
constexpr std::uint32_t share_elements(const AttentionShape& shape) { return shape.head_dim + 4; }

void attention_split(gpu::Recording& recording, std::string_view name, const Attention& args);

// The oracles: on bindings step, q, keys, values, pages, partials; and on step, partials, out.
void attention_shares_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                                std::uint32_t n_splits);
void attention_merge_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                               std::uint32_t n_splits);

}  // namespace ztvm::kernels
