#include "bench/perplexity.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace ztvm::bench {
namespace {

float ln(double p) { return static_cast<float>(std::log(p)); }

TEST(Mean, ByHand) {
  Mean mean;
  EXPECT_EQ(mean.standard_error(), 0.0);
  for (const double value : {1.0, 2.0, 6.0}) mean.add(value);
  EXPECT_DOUBLE_EQ(mean.value(), 3.0);
  EXPECT_DOUBLE_EQ(mean.standard_error(), std::sqrt(7.0 / 3.0));  // variance (4 + 1 + 9) / 2
  EXPECT_EQ(mean.largest(), 6.0);
}

TEST(Likelihood, EqualLogitsGiveTheVocabulary) {
  Likelihood likelihood;
  const std::array<float, 5> logits = {3.0f, 3.0f, 3.0f, 3.0f, 3.0f};
  for (std::uint32_t id = 0; id < 5; ++id) ASSERT_TRUE(likelihood.add(logits, id));
  EXPECT_NEAR(likelihood.perplexity(), 5.0, 1e-12);
  EXPECT_NEAR(likelihood.perplexity_error(), 0.0, 1e-12);
}

TEST(Likelihood, IsTheGeometricMean) {
  Likelihood likelihood;
  ASSERT_TRUE(likelihood.add(std::array{ln(0.5), ln(0.5)}, 0));
  ASSERT_TRUE(likelihood.add(std::array{ln(0.125), ln(0.875)}, 0));
  EXPECT_NEAR(likelihood.perplexity(), 4.0, 1e-6);  // sqrt(2 * 8)
}

TEST(Likelihood, LargeLogitsDoNotOverflow) {
  Likelihood likelihood;
  ASSERT_TRUE(likelihood.add(std::array{1e5f, 1e5f - 1.0f}, 0));
  EXPECT_NEAR(likelihood.perplexity(), 1.0 + std::exp(-1.0), 1e-6);
}

TEST(Likelihood, WhatIsNotFiniteIsRefused) {
  for (const float odd : {std::nanf(""), INFINITY}) {
    Likelihood likelihood;
    const auto added = likelihood.add(std::array{1.0f, odd, 2.0f}, 0);
    ASSERT_FALSE(added) << odd;
    EXPECT_EQ(added.error().code, ErrorCode::device);
  }
}

TEST(Divergence, OfASetFromItselfIsNothing) {
  Divergence divergence;
  const std::array<float, 3> logits = {1.0f, -2.0f, 0.5f};
  std::array<float, 3> shifted = logits;
  for (float& logit : shifted) logit += 8.0f;  // the same distribution
  ASSERT_TRUE(divergence.add(logits, shifted, 1));
  EXPECT_NEAR(divergence.divergence.value(), 0.0, 1e-6);
  EXPECT_EQ(divergence.agreement.value(), 1.0);
  EXPECT_NEAR(divergence.surprise_ratio.value(), 0.0, 1e-6);
}

TEST(Divergence, ByHand) {
  Divergence divergence;
  ASSERT_TRUE(divergence.add(std::array{ln(0.5), ln(0.5)}, std::array{ln(0.25), ln(0.75)}, 0));
  EXPECT_NEAR(divergence.divergence.value(), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0), 1e-6);
  EXPECT_NEAR(divergence.surprise_ratio.value(), std::log(2.0), 1e-6);
  EXPECT_EQ(divergence.agreement.value(), 0.0);  // of equal ones the first is the likeliest
  ASSERT_TRUE(divergence.add(std::array{ln(0.2), ln(0.8)}, std::array{ln(0.25), ln(0.75)}, 0));
  EXPECT_EQ(divergence.agreement.value(), 0.5);
}

}  // namespace
}  // namespace ztvm::bench
