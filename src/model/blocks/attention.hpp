#pragma once
// The attention block: norm, fused q, k and v, rotation and cache write, attention, an optional sigmoid gate, output
// added to the stream.
#include "model/blocks/layer_context.hpp"
#include "model/layer_state.hpp"
#include "model/names.hpp"

namespace ztvm::model {

struct AttentionWeights {
  VectorHandle norm{};
  MatrixHandle in{};       // rows q | k | v | gate
  VectorHandle qk_norm{};  // [2, head_dim], of q, then of k
  MatrixHandle out{};
};

// Errors: a tensor is missing or misshapen.
AttentionWeights plan_attention(WeightPlan::Builder& builder, const AttentionNames& names,
                                const AttentionSpec& spec, std::uint32_t dim);
void record_attention(const LayerContext& context, const AttentionSpec& attention,
                      const AttentionWeights& weights, const AttentionState& state);

}  // namespace ztvm::model
