#include "kernels/combine/combine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(Combine, OracleByHand) {
  // One row of two elements, two experts; the gate log 3 opens to 3 / 4. A second row is not of the pass.
  HostTensor step(Step{.n_rows = 1});
  HostTensor weights = {0.75f, 0.25f, 1.0f, 1.0f};
  HostTensor down = {4.0f, 8.0f, -4.0f, 16.0f, 9.0f, 9.0f, 9.0f, 9.0f};
  HostTensor x = {1.0f, 2.0f, 5.0f, 5.0f};
  HostTensor logits = {9.0f, 9.0f, std::log(3.0f), 9.0f, 9.0f, 9.0f};
  HostTensor shared = {8.0f, -8.0f, 9.0f, 9.0f};
  const std::array views = {step.view(), weights.view(), down.view(), x.view(), logits.view(), shared.view()};
  combine_reference(std::span(views).first(4), {.dim = 2, .top_k = 2});
  EXPECT_FLOAT_EQ(x[0], 3.0f);
  EXPECT_FLOAT_EQ(x[1], 12.0f);
  combine_reference(views, {.dim = 2, .top_k = 2, .has_shared = true, .stride = 3, .gate_column = 2});
  EXPECT_FLOAT_EQ(x[0], 3.0f + 2.0f + 6.0f);
  EXPECT_FLOAT_EQ(x[1], 12.0f + 10.0f - 6.0f);
  EXPECT_EQ(x[2], 5.0f);
}

}  // namespace
}  // namespace ztvm::kernels
