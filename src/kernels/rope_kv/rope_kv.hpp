#pragma once
// Rotary position embedding of q and k (Su et al. 2021, rotate-half order as in transformers' LlamaRotaryEmbedding),
// after an RMS norm of each head where the model has one (transformers' Qwen3Attention), and the write of k and v into
// the paged cache.
// Angles come from a table made on the host in double precision: WGSL promises little for cos and sin of large numbers.
// One thread = one pair of one head. With norms or a cache of int8: one workgroup (GPU set) or thread (CPU set) = one head
// of one row, and the sum of squares is f32. Bytes moved: qkv once (norms, CPU set: twice), q, k and v once.
#include <span>
#include <vector>

#include "kernels/attention_shape.hpp"
#include "kernels/step.hpp"

namespace ztvm::kernels {

struct RopeKv {
  AttentionShape shape;
  std::uint32_t n_rotated = 0;  // first elements of a head that rotate; even, at most head_dim
  std::uint32_t row_heads = 0;  // heads per row of qkv, what follows v is not read; 0: n_heads + 2 n_kv_heads
  float norm_eps = 0.0f;        // of the norms, where qk_norm is there
  gpu::Tensor step;             // Step
  gpu::Tensor qkv;              // [max_rows, row_heads, head_dim] activation type
  gpu::Tensor rope;             // [context, n_rotated / 2, 2] f32: cos and sin
  gpu::Tensor pages;            // [n_pages] u32, the page of each 16 positions
  gpu::Tensor q;                // [max_rows, n_heads, head_dim] activation type
  gpu::Tensor keys;             // [page][kv_head][slot][slot_elements] activation type or i8_groups
  gpu::Tensor values;           // the same
  gpu::Tensor qk_norm;  // [2, head_dim] f32: norm weights of q, then of k; no buffer: no norms. One tensor,
                        // because WebGPU promises eight storage buffers a shader
};

void rope_kv(gpu::Recording& recording, std::string_view name, const RopeKv& args);

// The table for `context` positions: angle = position * theta^(-2 j / n_rotated) / factors[j], computed in double.
// `factors`: [n_rotated / 2], or none for 1.
std::vector<float> rope_table(std::uint32_t context, std::uint32_t n_rotated, double theta,
                              std::span<const float> factors = {});

struct RopeKvShape {
  AttentionShape heads;
  std::uint32_t n_rotated = 0;
  std::uint32_t row_heads = 0;
  bool has_norm = false;
  float norm_eps = 0.0f;
};
RopeKvShape shape_of(const RopeKv& args);

// One row's heads after norms and rotation, rounded to the type of qkv.
struct RotatedRow {
  std::vector<float> q;  // [n_heads, head_dim]
  std::vector<float> k;  // [n_kv_heads, head_dim]
  std::vector<float> v;  // the same
};
RotatedRow rotated_row(std::span<const gpu::HostView> views, const RopeKvShape& shape, std::size_t row);
// Stores its keys and values at a position.
void store_kv(const RotatedRow& row, const AttentionShape& shape, const gpu::HostView& pages,
              std::size_t position, const gpu::HostView& keys, const gpu::HostView& values);

// The oracle, on bindings step, qkv, rope, pages, q, keys, values and, where there is a norm, qk_norm.
void rope_kv_reference(std::span<const gpu::HostView> views, const RopeKvShape& shape);

}  // namespace ztvm::kernels
