#include "model/blocks/attention.hpp"

#include "kernels/attention/attention.hpp"
#include "kernels/matmul/matmul.hpp"
#include "kernels/sigmoid_gate/sigmoid_gate.hpp"

namespace ztvm::model {

AttentionWeights plan_attention(WeightPlan::Builder& builder, const AttentionNames& names,
                                const AttentionSpec& spec, std::uint32_t dim) {
  AttentionWeights weights;
  weights.norm = builder.vector({{names.norm}, {dim}});
  weights.in = builder.matrix(names.in);
  if (spec.qk_norm) weights.qk_norm = builder.vector({{names.q_norm, names.k_norm}, {spec.head_dim}});
  weights.out = builder.matrix(names.out);
  return weights;
}

void record_attention(const LayerContext& context, const AttentionSpec& attention,
                      const AttentionWeights& weights, const AttentionState& state) {
  const Scratch& scratch = context.scratch;
  const kernels::AttentionShape shape = {
      .n_heads = attention.n_heads, .n_kv_heads = attention.n_kv_heads, .head_dim = attention.head_dim};
  const std::uint32_t n_in_heads =
      attention.n_heads * (attention.output_gate ? 2 : 1) + 2 * attention.n_kv_heads;
  const std::string norm_name = context.name("attention norm");
  kernels::matmul(context.recording, context.name("qkv"),
                  {.weights = context.weights.matrix(weights.in),
                   .norm = input_norm(context, norm_name, weights.norm),
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.x,
                   .out = scratch.in});
  kernels::RopeKv rope = {.shape = shape,
                          .n_rotated = attention.n_rotated,
                          .row_heads = n_in_heads,
                          .step = context.step,
                          .qkv = scratch.in,
                          .rope = context.rope,
                          .pages = context.pages,
                          .q = scratch.q,
                          .keys = state.keys,
                          .values = state.values};
  if (attention.qk_norm) {
    rope.qk_norm = context.weights.vector(weights.qk_norm);
    rope.norm_eps = context.spec.rms_eps;
  }
  const std::string rope_name = context.name("rope and cache write");
  kernels::rope_attention(context.recording, context.name("attention"),
                          {.rope = rope,
                           .rope_name = rope_name,
                           .out = scratch.mixed,
                           .partials = scratch.attention_partials,
                           .context = context.context});
  if (attention.output_gate) {
    const std::uint32_t width = attention.n_heads * attention.head_dim;
    kernels::sigmoid_gate(context.recording, context.name("attention gate"),
                          {.dim = width,
                           .x_stride = n_in_heads * attention.head_dim,
                           .first = width + 2 * attention.n_kv_heads * attention.head_dim,
                           .step = context.step,
                           .x = scratch.in,
                           .mixed = scratch.mixed});
  }
  kernels::matmul(context.recording, context.name("attention output"),
                  {.weights = context.weights.matrix(weights.out),
                   .epilogue = kernels::Epilogue::add_residual,
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.mixed,
                   .out = scratch.x});
}

}  // namespace ztvm::model
