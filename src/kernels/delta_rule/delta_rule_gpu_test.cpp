#include "kernels/delta_rule/delta_rule.hpp"

#include <gtest/gtest.h>

#include "kernels/causal_conv/causal_conv.hpp"
#include "kernels/host_tensor.hpp"
#include "kernels/run_passes.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_ln2 = 0.69314718f;
constexpr float k_ln3 = 1.0986123f;
constexpr float k_root2 = 1.4142136f;

// One key head of 2 elements, two value heads of 1; x is b, a.
constexpr DeltaRuleShape k_shape = {.n_key_heads = 1,
                                    .n_value_heads = 2,
                                    .key_dim = 2,
                                    .value_dim = 1,
                                    .x_stride = 4,
                                    .first_b = 0,
                                    .first_a = 2};

// Head 0 keeps 1/2 and corrects 1/2, head 1 keeps 1/4 and corrects 3/4.
TEST(DeltaRule, OracleByHand) {
  HostTensor step(Step{.n_rows = 2, .position = 0});
  HostTensor qkv = {3.0f, 4.0f, 0.0f, 5.0f, 10.0f, 20.0f, 0.0f, 2.0f, 3.0f, 4.0f, 12.0f, 11.0f};
  HostTensor x = {0.0f, k_ln3, 1.0f, 3.0f, 0.0f, k_ln3, 1.0f, 3.0f};
  HostTensor a_log = {0.0f, k_ln2};
  HostTensor dt_bias = {-1.0f, -3.0f};
  HostTensor state = {7.0f, 7.0f, 7.0f, 7.0f};  // of another sequence
  HostTensor out(gpu::Dtype::f32, 4);
  delta_rule_reference(
      std::array{step.view(), qkv.view(), x.view(), a_log.view(), dt_bias.view(), state.view(), out.view()},
      k_shape);
  // Row 0: k = (0, 1), q = (0.6, 0.8) / sqrt 2; S = (0, 5) and (0, 15).
  EXPECT_NEAR(out[0], 4.0f / k_root2, 1e-5);
  EXPECT_NEAR(out[1], 12.0f / k_root2, 1e-5);
  // Row 1: k = (0.6, 0.8), q = (0, 1) / sqrt 2. Head 0: S = (0, 2.5), predicts 2, corrects 5.
  // Head 1: S = (0, 3.75), predicts 3, corrects 6.
  EXPECT_NEAR(out[2], 6.5f / k_root2, 1e-5);
  EXPECT_NEAR(out[3], 8.55f / k_root2, 1e-5);
  EXPECT_NEAR(state[0], 3.0f, 1e-5);
  EXPECT_NEAR(state[1], 6.5f, 1e-5);
  EXPECT_NEAR(state[2], 3.6f, 1e-5);
  EXPECT_NEAR(state[3], 8.55f, 1e-5);
}

TEST(DeltaRule, OracleGoesOnFromTheState) {
  HostTensor step(Step{.n_rows = 1, .position = 1});
  HostTensor qkv = {0.0f, 2.0f, 3.0f, 4.0f, 12.0f, 11.0f};
  HostTensor x = {0.0f, k_ln3, 1.0f, 3.0f};
  HostTensor a_log = {0.0f, k_ln2};
  HostTensor dt_bias = {-1.0f, -3.0f};
  HostTensor state = {0.0f, 5.0f, 0.0f, 15.0f};
  HostTensor out(gpu::Dtype::f32, 2);
  delta_rule_reference(
      std::array{step.view(), qkv.view(), x.view(), a_log.view(), dt_bias.view(), state.view(), out.view()},
      k_shape);
  EXPECT_NEAR(out[0], 6.5f / k_root2, 1e-5);
  EXPECT_NEAR(out[1], 8.55f / k_root2, 1e-5);
}

TEST(DeltaRule, OracleOfExtremeGates) {
  // Head 0 forgets all and writes all, head 1 keeps all and writes nothing.
  HostTensor step(Step{.n_rows = 1, .position = 1});
  HostTensor qkv = {0.0f, 2.0f, 0.0f, 1.0f, 12.0f, 11.0f};
  HostTensor x = {1e4f, -1e4f, 1e4f, -1e4f};
  HostTensor a_log = {2.0f, 2.0f};
  HostTensor dt_bias = {0.0f, 0.0f};
  HostTensor state = {3.0f, 5.0f, 4.0f, 15.0f};
  HostTensor out(gpu::Dtype::f32, 2);
  delta_rule_reference(
      std::array{step.view(), qkv.view(), x.view(), a_log.view(), dt_bias.view(), state.view(), out.view()},
      k_shape);
  EXPECT_EQ(state[0], 0.0f);
  EXPECT_NEAR(state[1], 12.0f, 1e-4);
  EXPECT_EQ(state[2], 4.0f);
  EXPECT_EQ(state[3], 15.0f);
  EXPECT_NEAR(out[1], 15.0f / k_root2, 1e-4);
}

constexpr DeltaRuleShape k_heads = {.n_key_heads = 2,
                                    .n_value_heads = 4,
                                    .key_dim = 32,
                                    .value_dim = 20,
                                    .x_stride = 220,
                                    .first_b = 210,
                                    .first_a = 214};

// A convolution and the delta rule on its output, as a model has them.
RecurrentKernel conv_and_delta_rule(std::uint32_t chunk) {
  return {
      .x_stride = k_heads.x_stride,
      .out_stride = 4 * 20,
      .n_state = 4 * 32 * 20,
      .f32_out = true,
      .record = [chunk](CaseBuilder& builder, gpu::Recording& recording, const RecurrentBuffers& buffers) {
        const std::uint32_t channels = qkv_elements(k_heads);
        Random random(2);
        const auto values = [&](Fill fill, std::size_t n) {
          return builder.tensor(gpu::Dtype::f32, make_values(fill, n, random));
        };
        const gpu::Tensor qkv =
            builder.tensor(builder.activation(), std::size_t{recording.max_rows} * channels, Fill::outliers);
        causal_conv(recording, "conv",
                    {.channels = channels,
                     .width = 4,
                     .x_stride = k_heads.x_stride,
                     .step = buffers.step,
                     .x = buffers.x,
                     .weight = values(Fill::normal, std::size_t{channels} * 4),
                     .state = values(Fill::normal, std::size_t{channels} * 3),
                     .out = qkv});
        const std::uint64_t n_scratch =
            delta_rule_scratch(k_heads, recording.target, recording.max_rows, chunk);
        const gpu::Tensor scratch =
            n_scratch == 0 ? gpu::Tensor{} : builder.tensor(gpu::Dtype::f32, n_scratch, Fill::outliers);
        delta_rule(recording, "delta rule",
                   {.shape = k_heads,
                    .step = buffers.step,
                    .qkv = qkv,
                    .x = buffers.x,
                    .a_log = values(Fill::uniform, 4),
                    .dt_bias = builder.tensor(gpu::Dtype::f32, std::vector{-8.0f, -5.0f, -3.0f, -1.0f}),
                    .state = buffers.state,
                    .out = buffers.out,
                    .scratch = scratch,
                    .chunk = chunk});
      }};
}

// However a sequence is cut into passes, and whichever form they take, outputs and state agree.
TEST(DeltaRule, PassesDoNotMatter) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  constexpr std::uint32_t k_rows = 102;
  const RecurrentKernel kernel = conv_and_delta_rule(k_delta_rule_chunk);
  const RecurrentKernel small_chunks = conv_and_delta_rule(16);
  Random random(3);
  const std::vector<float> x = make_values(Fill::normal, std::size_t{k_rows} * kernel.x_stride, random);
  const std::vector<std::uint32_t> ones(k_rows, 1);
  const double tolerance = gpu::sum_tolerance(std::size_t{32} * k_rows, gpu::Dtype::f32);
  for (const gpu::Target& target : test_targets(*device)) {
    SCOPED_TRACE(gpu::describe(target));
    const auto single = run_passes(*device, target, kernel, x, 1, ones);
    const std::array others = {
        run_passes(*device, target, kernel, x, 104, std::array{k_rows}),
        run_passes(*device, target, kernel, x, 70, std::array{1u, 47u, 2u, 32u, 20u}),
        run_passes(*device, target, small_chunks, x, 70, std::array{70u, 16u, 15u, 1u}),
    };
    for (const RecurrentResult& other : others) {
      expect_close(other.out, single.out, tolerance);
      expect_close(other.state, single.state, tolerance);
    }
  }
}

TEST(DeltaRule, ScratchIsForManyRowsOnGpus) {
  EXPECT_EQ(delta_rule_scratch(k_heads, {.cpu = true}, 512), 0u);
  EXPECT_EQ(delta_rule_scratch(k_heads, {.cpu = false}, 1), 0u);
  EXPECT_EQ(delta_rule_scratch(k_heads, {.cpu = false}, 65), 3u * 4u * (2u * 1024u + 128u + 4u));
  gpu::Recording recording = {.target = {.cpu = false}, .max_rows = 65, .ops = {}};
  const gpu::Tensor scratch = {gpu::BufferId{1}, gpu::Dtype::f32};
  delta_rule(recording, "with", {.shape = k_heads, .scratch = scratch});
  EXPECT_EQ(recording.ops.size(), 2u);
  delta_rule(recording, "without", {.shape = k_heads});
  EXPECT_EQ(recording.ops.size(), 3u);
  recording.max_rows = 1;
  delta_rule(recording, "decode", {.shape = k_heads, .scratch = scratch});
  EXPECT_EQ(recording.ops.size(), 4u);
}

// llvmpipe ends long loops, so a CPU set's op takes part of the rows of a long pass.
TEST(DeltaRule, LongPassesAreCutOnCpus) {
  gpu::Recording recording = {.target = {.cpu = true}, .max_rows = 9000, .ops = {}};
  delta_rule(recording, "long", {.shape = k_heads});
  ASSERT_EQ(recording.ops.size(), 3u);
  EXPECT_EQ(recording.ops[2].program.consts[8].name, "FIRST_ROW");
  EXPECT_EQ(recording.ops[2].program.consts[8].u32, 2u * 3529u);
}

}  // namespace
}  // namespace ztvm::kernels
