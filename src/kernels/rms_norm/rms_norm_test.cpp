#include "kernels/rms_norm/rms_norm.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(RmsNorm, OracleByHand) {
  // Row 0: mean of squares 12.5 + 3.5 = 16, so the scale is 1/4. Row 1 is zero, so eps alone is under the root.
  HostTensor step(Step{.n_rows = 2});
  HostTensor x = {3.0f, 4.0f, 0.0f, 0.0f};
  HostTensor weight = {1.0f, -2.0f};
  HostTensor out = {9.0f, 9.0f, 9.0f, 9.0f};
  rms_norm_reference(std::array{step.view(), x.view(), weight.view(), out.view()}, 2, 3.5f, Rows::all);
  EXPECT_FLOAT_EQ(out[0], 0.75f);
  EXPECT_FLOAT_EQ(out[1], -2.0f);
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(out[3], 0.0f);
}

TEST(RmsNorm, OracleOfTheLastRow) {
  HostTensor step(Step{.n_rows = 2});
  HostTensor x = {100.0f, 100.0f, 3.0f, 4.0f, 50.0f, 50.0f};
  HostTensor weight = {1.0f, 1.0f};
  HostTensor out = {9.0f, 9.0f};
  rms_norm_reference(std::array{step.view(), x.view(), weight.view(), out.view()}, 2, 3.5f, Rows::last);
  EXPECT_FLOAT_EQ(out[0], 0.75f);
  EXPECT_FLOAT_EQ(out[1], 1.0f);
}

}  // namespace
}  // namespace ztvm::kernels
