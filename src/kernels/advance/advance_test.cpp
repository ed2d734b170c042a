#include "kernels/advance/advance.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(Advance, OracleByHand) {
  HostTensor step(Step{.n_rows = 5, .position = 10, .n_chosen = 65, .temperature = 0.5f, .choice = 3});
  HostTensor tokens = HostTensor::words({7, 8});
  HostTensor seen = HostTensor::words({0, 0, 0, 0});
  advance_reference(std::array{step.view(), tokens.view(), seen.view()});
  const Step after = load_step(step.view());
  EXPECT_EQ(after.n_rows, 1u);
  EXPECT_EQ(after.position, 15u);
  EXPECT_EQ(after.n_chosen, 66u);
  EXPECT_EQ(after.ring[1], 3u);
  EXPECT_EQ(after.ring[0], 0u);
  EXPECT_EQ(after.temperature, 0.5f);
  EXPECT_EQ(tokens.word(0), 3u);
  EXPECT_EQ(tokens.word(1), 8u);
  EXPECT_EQ(seen.word(3), 1u);
  EXPECT_EQ(seen.word(2), 0u);
}

}  // namespace
}  // namespace ztvm::kernels
