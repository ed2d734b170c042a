#include "model/blocks/delta_net.hpp"

#include "kernels/causal_conv/causal_conv.hpp"
#include "kernels/gated_norm/gated_norm.hpp"
#include "kernels/matmul/matmul.hpp"

namespace ztvm::model {

kernels::DeltaRuleShape delta_rule_shape(const DeltaNetSpec& spec) {
  const std::uint32_t first_b = spec.conv_channels() + spec.value_width();
  return {.n_key_heads = spec.n_key_heads,
          .n_value_heads = spec.n_value_heads,
          .key_dim = spec.key_dim,
          .value_dim = spec.value_dim,
          .x_stride = spec.in_width(),
          .first_b = first_b,
          .first_a = first_b + spec.n_value_heads};
}

DeltaNetWeights plan_delta_net(WeightPlan::Builder& builder, const DeltaNetNames& names,
                               const DeltaNetSpec& spec, std::uint32_t dim) {
  DeltaNetWeights weights;
  weights.norm = builder.vector({{names.norm}, {dim}});
  weights.in = builder.matrix(names.in);
  weights.conv = builder.vector({{names.conv}, {spec.conv_channels(), spec.conv_width}});
  weights.a_log = builder.vector({{names.a_log}, {spec.n_value_heads}, /*may_be_zero=*/true});
  weights.dt_bias = builder.vector({{names.dt_bias}, {spec.n_value_heads}, /*may_be_zero=*/true});
  weights.out_norm = builder.vector({{names.out_norm}, {spec.value_dim}});
  weights.out = builder.matrix(names.out);
  return weights;
}

void record_delta_net(const LayerContext& context, const DeltaNetSpec& spec, const DeltaNetWeights& weights,
                      const DeltaNetState& state) {
  const Scratch& scratch = context.scratch;
  const std::string norm_name = context.name("linear attention norm");
  kernels::matmul(context.recording, context.name("linear attention input"),
                  {.weights = context.weights.matrix(weights.in),
                   .norm = input_norm(context, norm_name, weights.norm),
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.x,
                   .out = scratch.in});
  kernels::causal_conv(context.recording, context.name("causal convolution"),
                       {.channels = spec.conv_channels(),
                        .width = spec.conv_width,
                        .x_stride = spec.in_width(),
                        .first = 0,
                        .step = context.step,
                        .x = scratch.in,
                        .weight = context.weights.vector(weights.conv),
                        .state = state.conv,
                        .out = scratch.q});
  kernels::delta_rule(context.recording, context.name("delta rule"),
                      {.shape = delta_rule_shape(spec),
                       .step = context.step,
                       .qkv = scratch.q,
                       .x = scratch.in,
                       .a_log = context.weights.vector(weights.a_log),
                       .dt_bias = context.weights.vector(weights.dt_bias),
                       .state = state.delta,
                       .out = scratch.delta,
                       .scratch = scratch.delta_chunks});
  kernels::gated_norm(context.recording, context.name("gated norm"),
                      {.n_heads = spec.n_value_heads,
                       .head_dim = spec.value_dim,
                       .x_stride = spec.in_width(),
                       .first = spec.conv_channels(),
                       .eps = context.spec.rms_eps,
                       .step = context.step,
                       .o = scratch.delta,
                       .x = scratch.in,
                       .weight = context.weights.vector(weights.out_norm),
                       .out = scratch.mixed});
  kernels::matmul(context.recording, context.name("linear attention output"),
                  {.weights = context.weights.matrix(weights.out),
                   .epilogue = kernels::Epilogue::add_residual,
                   .quantised = context.scratch.input,
                   .step = context.step,
                   .x = scratch.mixed,
                   .out = scratch.x});
}

}  // namespace ztvm::model
