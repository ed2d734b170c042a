#include "kernels/causal_conv/causal_conv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/host_tensor.hpp"
#include "kernels/run_passes.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

constexpr CausalConvShape k_one_channel = {.channels = 1, .width = 3, .x_stride = 2, .first = 1};

float silu(float v) { return v / (1.0f + std::exp(-v)); }

TEST(CausalConv, OracleByHand) {
  HostTensor step(Step{.n_rows = 4, .position = 0});
  HostTensor x = {9.0f, 1.0f, 9.0f, 2.0f, 9.0f, -3.0f, 9.0f, 0.5f};
  HostTensor weight = {100.0f, 10.0f, 1.0f};  // the last tap is the row itself
  HostTensor state = {7.0f, 8.0f};            // of another sequence
  HostTensor out(gpu::Dtype::f32, 5);
  causal_conv_reference(std::array{step.view(), x.view(), weight.view(), state.view(), out.view()},
                        k_one_channel);
  EXPECT_FLOAT_EQ(out[0], silu(1.0f));
  EXPECT_FLOAT_EQ(out[1], silu(12.0f));
  EXPECT_FLOAT_EQ(out[2], silu(117.0f));
  EXPECT_FLOAT_EQ(out[3], silu(170.5f));
  EXPECT_EQ(out[4], 0.0f);
  EXPECT_EQ(state[0], -3.0f);
  EXPECT_EQ(state[1], 0.5f);
}

TEST(CausalConv, OracleGoesOnFromTheState) {
  HostTensor step(Step{.n_rows = 1, .position = 6});
  HostTensor x = {9.0f, 1.0f};
  HostTensor weight = {100.0f, 10.0f, 1.0f};
  HostTensor state = {-0.02f, 0.3f};
  HostTensor out(gpu::Dtype::f32, 1);
  causal_conv_reference(std::array{step.view(), x.view(), weight.view(), state.view(), out.view()},
                        k_one_channel);
  EXPECT_FLOAT_EQ(out[0], silu(2.0f));
  EXPECT_EQ(state[0], 0.3f);
  EXPECT_EQ(state[1], 1.0f);
}

// However a sequence is cut into passes, outputs and state are the same to the bit.
TEST(CausalConv, PassesDoNotMatter) {
  gpu::Device* device = test_device();
  ASSERT_NE(device, nullptr) << "no adapter is found";
  constexpr std::uint32_t k_rows = 37;
  const RecurrentKernel kernel = {
      .x_stride = 30,
      .out_stride = 20,
      .n_state = 3 * 20,
      .record = [](CaseBuilder& builder, gpu::Recording& recording, const RecurrentBuffers& buffers) {
        Random random(2);
        causal_conv(recording, "conv",
                    {.channels = 20,
                     .width = 4,
                     .x_stride = 30,
                     .first = 6,
                     .step = buffers.step,
                     .x = buffers.x,
                     .weight = builder.tensor(gpu::Dtype::f32, make_values(Fill::normal, 80, random)),
                     .state = buffers.state,
                     .out = buffers.out});
      }};
  Random random(3);
  const std::vector<float> x = make_values(Fill::normal, std::size_t{k_rows} * kernel.x_stride, random);
  const std::vector<std::uint32_t> ones(k_rows, 1);
  for (const gpu::Target& target : test_targets(*device)) {
    SCOPED_TRACE(gpu::describe(target));
    const auto whole = run_passes(*device, target, kernel, x, 64, std::array{k_rows});
    const auto single = run_passes(*device, target, kernel, x, 1, ones);
    const auto mixed = run_passes(*device, target, kernel, x, 20, std::array{2u, 1u, 16u, 17u, 1u});
    EXPECT_EQ(whole.out, single.out);
    EXPECT_EQ(whole.state, single.state);
    EXPECT_EQ(whole.out, mixed.out);
    EXPECT_EQ(whole.state, mixed.state);
  }
}

}  // namespace
}  // namespace ztvm::kernels
