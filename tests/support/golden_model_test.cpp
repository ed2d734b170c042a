#include "support/golden_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ztvm::tests {
namespace {

TEST(GoldenModel, DifferencesAreSeen) {
  const std::vector<float> a = {1.0f, 2.0f, 3.0f};
  EXPECT_EQ(largest_difference(a, std::vector<float>{1.0f, 2.5f, 3.0f}), 0.5);
  EXPECT_EQ(largest_difference(a, std::vector<float>{1.0f}), INFINITY);
  EXPECT_NEAR(deviation(a), std::sqrt(2.0 / 3.0), 1e-12);
}

}  // namespace
}  // namespace ztvm::tests
