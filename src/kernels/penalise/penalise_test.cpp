#include "kernels/penalise/penalise.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(Penalise, OracleByHand) {
  HostTensor step(Step{.repeat_penalty = 2.0f});
  HostTensor seen = HostTensor::words({1, 0, 1, 1, 1});
  HostTensor logits = {3.0f, 3.0f, -3.0f, 0.0f, 8.0f};
  penalise_reference(std::array{step.view(), seen.view(), logits.view()}, 4);
  EXPECT_EQ(logits[0], 1.5f);
  EXPECT_EQ(logits[1], 3.0f);
  EXPECT_EQ(logits[2], -6.0f);
  EXPECT_EQ(logits[3], 0.0f);
  EXPECT_EQ(logits[4], 8.0f) << "beyond n_valid";
}

}  // namespace
}  // namespace ztvm::kernels
