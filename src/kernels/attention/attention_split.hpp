#pragma once
// Attention of one row on a GPU, from the fused q, k and v on: the keys are split among workgroups (split-K, as flash
// decoding does), each rotates what it needs and sums its share with a maximum of its own, then a second op merges the
// shares. The row's own key and value are not rounded to int8 where the cache is.
// Bytes moved: keys and values once for every two or three query heads that share them.
#include "kernels/attention/attention.hpp"
#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::kernels {

// How a shape is spread over workgroups.
struct SplitForm {
  std::uint32_t n_keys = 64;  // of a share
  std::uint32_t n_heads = 1;  // of a workgroup
  std::uint32_t workgroup = 128;
};
SplitForm split_form(const AttentionShape& shape);

// One share of one head: head_dim sums, then maximum and sum of the weights, padded to a quad.
constexpr std::uint32_t share_elements(const AttentionShape& shape) { return shape.head_dim + 4; }

void attention_split(gpu::Recording& recording, std::string_view name, const RopeAttention& args);

// The oracles: on bindings step, qkv, rope, pages, keys, values, partials and, where there is a norm, qk_norm; and on
// step, partials, out.
void attention_shares_reference(std::span<const gpu::HostView> views, const RopeKvShape& shape,
                                std::uint32_t n_splits);
void attention_merge_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                               std::uint32_t n_splits);

}  // namespace ztvm::kernels
