#include "kernels/gated_norm/gated_norm.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

// Two heads of 2 elements; z begins at column 1 of 6. silu(ln 3) = 3/4 ln 3.
TEST(GatedNorm, OracleByHand) {
  constexpr float k_ln3 = 1.0986123f;
  HostTensor step(Step{.n_rows = 2});
  // Head 0 of row 0: mean of squares 12.5 + 3.5 = 16. Head 1 is zero. Row 1: 2 + 3.5, gates 0 and very small.
  HostTensor o = {3.0f, 4.0f, 0.0f, 0.0f, 2.0f, 0.0f, 1.0f, 1.0f};
  HostTensor x = {9.0f, k_ln3, -k_ln3, 1.0f, 1.0f, 9.0f, 9.0f, 0.0f, 1.0f, 1e30f, -1e30f, 9.0f};
  HostTensor weight = {1.0f, -2.0f};
  HostTensor out(gpu::Dtype::f32, 8);
  gated_norm_reference(std::array{step.view(), o.view(), x.view(), weight.view(), out.view()},
                       {.n_heads = 2, .head_dim = 2, .x_stride = 6, .first = 1, .eps = 3.5f});
  EXPECT_FLOAT_EQ(out[0], 0.75f * 0.75f * k_ln3);
  EXPECT_FLOAT_EQ(out[1], -2.0f * -0.25f * k_ln3);
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(out[3], 0.0f);
  EXPECT_EQ(out[4], 0.0f);
  EXPECT_EQ(out[5], 0.0f);
  EXPECT_FLOAT_EQ(out[6], 0.47140452f * 1e30f);  // 1 / sqrt(4.5)
  EXPECT_EQ(out[7], 0.0f);
}

}  // namespace
}  // namespace ztvm::kernels
