#include "kernels/sigmoid_gate/sigmoid_gate.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(SigmoidGate, OracleByHand) {
  HostTensor step(Step{.n_rows = 2});
  // Gates are the last two of three columns; sigmoid(ln 3) is 3/4.
  HostTensor x = {7.0f, 0.0f, 1.0986123f, 7.0f, -1.0986123f, 1e30f, 7.0f, 0.0f, 0.0f};
  HostTensor mixed = {4.0f, 8.0f, -4.0f, 8.0f, 5.0f, 5.0f};
  sigmoid_gate_reference(std::array{step.view(), x.view(), mixed.view()},
                         {.dim = 2, .x_stride = 3, .first = 1});
  EXPECT_EQ(mixed[0], 2.0f);
  EXPECT_FLOAT_EQ(mixed[1], 6.0f);
  EXPECT_FLOAT_EQ(mixed[2], -1.0f);
  EXPECT_EQ(mixed[3], 8.0f);
  EXPECT_EQ(mixed[4], 5.0f) << "a row beyond the pass stays";
}

TEST(SigmoidGate, OracleOfLargeGates) {
  HostTensor step(Step{.n_rows = 1});
  HostTensor x = {-1e30f, 1e30f};
  HostTensor mixed = {4.0f, 8.0f};
  sigmoid_gate_reference(std::array{step.view(), x.view(), mixed.view()},
                         {.dim = 2, .x_stride = 2, .first = 0});
  EXPECT_EQ(mixed[0], 0.0f);
  EXPECT_EQ(mixed[1], 8.0f);
}

}  // namespace
}  // namespace ztvm::kernels
