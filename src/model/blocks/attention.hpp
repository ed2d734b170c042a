#pragma once
// The attention block: norm, fused q, k and v, rotation and cache write, attention, output added to the stream.
#include <cstdint>

#include "gpu/op.hpp"
#include "model/spec.hpp"
#include "model/weights.hpp"

namespace ztvm::model {

// The buffers that one layer's attention works on.
struct AttentionBuffers {
  gpu::Tensor step;
  gpu::Tensor pages;
  gpu::Tensor rope;
  gpu::Tensor x;       // [max_rows, dim] f32, residual stream, added to
  gpu::Tensor normed;  // [max_rows, dim] activation type
  gpu::Tensor qkv;     // [max_rows, n_heads + 2 n_kv_heads, head_dim] activation type
  gpu::Tensor q;       // [max_rows, n_heads, head_dim] activation type
  gpu::Tensor mixed;   // [max_rows, n_heads, head_dim] activation type
  gpu::Tensor keys;    // cache of this layer
  gpu::Tensor values;
};

void record_attention(gpu::Recording& recording, std::uint32_t layer, const ModelSpec& spec,
                      const AttentionSpec& attention, const LayerWeights& weights,
                      const AttentionBuffers& buffers);

}  // namespace ztvm::model
