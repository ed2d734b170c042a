// The comparison of an op with its oracle, where values are not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "gpu/executor.hpp"

namespace ztvm::gpu {
namespace {

constexpr float k_nan = NAN;
constexpr float k_inf = INFINITY;

std::optional<Mismatch> compared(std::vector<float> got, std::vector<float> want) {
  Op op = {.name = "op", .tolerance = 1e-3f};
  op.bindings.push_back({.tensor = {.dtype = Dtype::f32}, .access = Access::read_write});
  const auto view = [](std::vector<float>& values) {
    return HostView{std::as_writable_bytes(std::span(values)), Dtype::f32};
  };
  const HostView got_view = view(got);
  const HostView want_view = view(want);
  return compare(op, {&got_view, 1}, {&want_view, 1});
}

TEST(Compare, ToleranceIsRelative) {
  EXPECT_FALSE(compared({1.0f, 2.001f}, {1.0f, 2.0f}));
  EXPECT_TRUE(compared({1.0f, 2.1f}, {1.0f, 2.0f}));
}

TEST(Compare, OneValueThatIsNotFiniteDoesNotJudgeTheOthers) {
  for (const float odd : {k_nan, k_inf, -k_inf}) {
    EXPECT_FALSE(compared({odd, 1.0f, 2.001f}, {odd, 1.0f, 2.0f})) << odd;
    const auto mismatch = compared({odd, 1.0f, 2.1f}, {odd, 1.0f, 2.0f});
    ASSERT_TRUE(mismatch) << odd;
    EXPECT_EQ(mismatch->n_wrong, 1u) << odd;
    EXPECT_EQ(mismatch->element, 2u) << odd;
  }
}

TEST(Compare, WhatIsNotFiniteMustBeTheSame) {
  EXPECT_TRUE(compared({1.0f, 5.0f}, {1.0f, k_inf}));
  EXPECT_TRUE(compared({1.0f, -k_inf}, {1.0f, k_inf}));
  EXPECT_TRUE(compared({1.0f, k_nan}, {1.0f, 2.0f}));
  EXPECT_TRUE(compared({1.0f, 2.0f}, {1.0f, k_nan}));
}

}  // namespace
}  // namespace ztvm::gpu
