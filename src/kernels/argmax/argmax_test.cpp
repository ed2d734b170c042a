#include "kernels/argmax/argmax.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

Step run(HostTensor logits, std::uint32_t n_valid) {
  const std::uint32_t n_blocks = div_up(n_valid, k_argmax_block);
  HostTensor candidates(gpu::Dtype::u32, n_blocks * 4);
  HostTensor step(Step{.n_not_finite = 1});
  block_maxima_reference(std::array{logits.view(), candidates.view()}, n_valid, k_argmax_block);
  argmax_final_reference(std::array{candidates.view(), step.view()}, n_blocks);
  return load_step(step.view());
}

TEST(Argmax, OracleByHand) {
  EXPECT_EQ(run({1.0f, 3.0f, 2.0f}, 3).choice, 1u);
  EXPECT_EQ(run({-1.0f, -3.0f, -0.5f}, 3).choice, 2u);
  EXPECT_EQ(run({1.0f, 3.0f, 3.0f}, 3).choice, 1u) << "the lowest of equals";
  EXPECT_EQ(run({1.0f, 3.0f, 9.0f}, 2).choice, 1u) << "beyond n_valid";
}

TEST(Argmax, OracleSkipsWhatIsNotFinite) {
  const Step step = run({k_nan, 1.0f, k_infinity, 2.0f, -k_infinity, -k_nan}, 6);
  EXPECT_EQ(step.choice, 3u);
  EXPECT_EQ(step.n_not_finite, 5u);
  EXPECT_EQ(run({k_nan, -k_infinity}, 2).choice, 0u);
}

TEST(Argmax, OracleOfSeveralBlocks) {
  HostTensor logits(gpu::Dtype::f32, 700);
  logits.view().store(699, 2.0f);
  logits.view().store(300, 2.0f);
  logits.view().store(10, 1.0f);
  EXPECT_EQ(run(logits, 700).choice, 300u);
}

}  // namespace
}  // namespace ztvm::kernels
