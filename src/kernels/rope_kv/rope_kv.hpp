#pragma once
// Rotary position embedding of q and k (Su et al. 2021, rotate-half order as in transformers' LlamaRotaryEmbedding),
// and the write of k and v into the paged cache.
// Angles come from a table made on the host in double precision: WGSL promises little for cos and sin of large numbers.
// One thread = one pair of one head. Bytes moved: qkv once, q, k and v once.
#include <vector>

#include "kernels/attention_shape.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct RopeKv {
  AttentionShape shape;
  std::uint32_t n_rotated = 0;  // first elements of a head that rotate; even, at most head_dim
  gpu::Tensor step;             // Step
  gpu::Tensor qkv;              // [max_rows, n_heads + 2 n_kv_heads, head_dim] activation type
  gpu::Tensor rope;             // [context, n_rotated / 2, 2] f32: cos and sin
  gpu::Tensor pages;            // [n_pages] u32, the page of each 16 positions
  gpu::Tensor q;                // [max_rows, n_heads, head_dim] activation type
  gpu::Tensor keys;             // [page][kv_head][slot][head_dim] activation type
  gpu::Tensor values;           // the same
};

void rope_kv(gpu::Recording& recording, std::string_view name, const RopeKv& args);

// The table for `context` positions: angle = position * theta^(-2 j / n_rotated), computed in double.
std::vector<float> rope_table(std::uint32_t context, std::uint32_t n_rotated, double theta);

// The oracle, on bindings step, qkv, rope, pages, q, keys, values.
void rope_kv_reference(std::span<const gpu::HostView> views, const AttentionShape& shape,
                       std::uint32_t n_rotated);

}  // namespace ztvm::kernels
