#pragma once
// Causal grouped-query attention: out = softmax(q k^T / sqrt(head_dim)) v over positions 0..position of the row
// (Vaswani et al. 2017; grouped queries: Ainslie et al. 2023).
// GPU set: one workgroup = one head of up to 32 rows (attention_rows.hpp); a single row takes another way
// (attention_split.hpp). CPU set: the heads that share a kv head, of several rows. Scores, softmax and sums are f32.
// Bytes moved: keys and values of all positions once a head and workgroup.
#include "kernels/attention_shape.hpp"
#include "kernels/rope_kv/rope_kv.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct Attention {
  AttentionShape shape;
  gpu::Tensor step;    // Step
  gpu::Tensor q;       // [max_rows, n_heads, head_dim] activation type, rotated
  gpu::Tensor keys;    // [page][kv_head][slot][slot_elements] activation type or i8_groups
  gpu::Tensor values;  // the same
  gpu::Tensor pages;   // [n_pages] u32
  gpu::Tensor out;     // [max_rows, n_heads, head_dim] activation type
};

// Rotation, cache write and attention: two ops, or on a GPU for a single row those of attention_split.hpp.
struct RopeAttention {
  RopeKv rope;  // its q is not written where one op does all
  std::string_view rope_name;
  gpu::Tensor out;            // as of Attention
  gpu::Tensor partials;       // [attention_partials()] f32
  std::uint32_t context = 0;  // positions that the page table has
};

void rope_attention(gpu::Recording& recording, std::string_view name, const RopeAttention& args);

// Elements of `partials`; 0 where the kernel set doesn't use them.
std::uint64_t attention_partials(const AttentionShape& shape, const gpu::Target& target,
                                 std::uint32_t context);

void attention(gpu::Recording& recording, std::string_view name, const Attention& args);

// The oracle, on bindings step, q, keys, values, pages, out.
void attention_reference(std::span<const gpu::HostView> views, const AttentionShape& shape);

}  // namespace ztvm::kernels
