#pragma once
// The gated feed-forward block: norm, fused gate and up with SwiGLU, down added to the stream.
#include <cstdint>

#include "gpu/op.hpp"
#include "model/spec.hpp"
#include "model/weights.hpp"

namespace ztvm::model {

// The buffers that one layer's feed-forward part works on.
struct MlpBuffers {
  gpu::Tensor step;
  gpu::Tensor x;       // [max_rows, dim] f32, residual stream, added to
  gpu::Tensor normed;  // [max_rows, dim] activation type
  gpu::Tensor hidden;  // [max_rows, ffn_dim] activation type
};

void record_mlp(gpu::Recording& recording, std::uint32_t layer, const ModelSpec& spec,
                const LayerWeights& weights, const MlpBuffers& buffers);

}  // namespace ztvm::model
