#include "base/int8_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ztvm {
namespace {

// One group of these values; the levels behind them are 1.
std::vector<std::byte> group_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(k_int8_group_bytes, std::byte{1});
  store_int8_group(bytes, 0, values);
  return bytes;
}

TEST(Int8Groups, TheLargestBecomes127) {
  const auto bytes = group_of({-2.0f, 1.0f, 0.0f, 0.5f});
  EXPECT_EQ(int8_scale(bytes, 0), 2.0f * (1.0f / 127.0f));
  EXPECT_EQ(int8_level(bytes, 0), -127);
  EXPECT_EQ(int8_level(bytes, 1), 64);  // 63.5, as is the next: ties go to even
  EXPECT_EQ(int8_level(bytes, 2), 0);
  EXPECT_EQ(int8_level(bytes, 3), 32);  // 31.75
  for (std::size_t i = 4; i < k_int8_group; ++i) EXPECT_EQ(int8_level(bytes, i), 1) << i;
  EXPECT_NEAR(int8_value(bytes, 0), -2.0f, 1e-6f);
}

TEST(Int8Groups, ErrorsAreAtMostHalfAStep) {
  std::vector<float> values;
  for (int i = 0; i < 32; ++i) values.push_back(std::sin(static_cast<float>(i * i)) * 3.0f);
  const auto bytes = group_of(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(int8_value(bytes, i), values[i], 0.5001f * int8_scale(bytes, 0)) << i;
  }
}

TEST(Int8Groups, GroupsAreApart) {
  std::vector<std::byte> bytes(3 * k_int8_group_bytes);
  store_int8_group(bytes, 1, std::vector<float>(32, 1.0f));
  store_int8_group(bytes, 2, std::vector<float>{0.0f, 100.0f});
  EXPECT_EQ(int8_value(bytes, 31), 0.0f);
  EXPECT_NEAR(int8_value(bytes, 32), 1.0f, 1e-6f);
  EXPECT_NEAR(int8_value(bytes, 63), 1.0f, 1e-6f);
  EXPECT_NEAR(int8_value(bytes, 65), 100.0f, 1e-4f);
}

TEST(Int8Groups, TinyGroupsAreZeros) {
  for (const float tiny : {0.0f, 1e-40f, 9e-31f}) {
    const auto bytes = group_of({tiny, -tiny});
    EXPECT_EQ(int8_scale(bytes, 0), 0.0f) << tiny;
    EXPECT_EQ(int8_value(bytes, 1), 0.0f) << tiny;
  }
  EXPECT_EQ(int8_level(group_of({-2e-30f}), 0), -127);
}

TEST(Int8Groups, WhatIsNotFiniteIsNotLost) {
  EXPECT_TRUE(std::isnan(int8_value(group_of({1.0f, NAN, INFINITY}), 0)));
  for (const float odd : {INFINITY, -INFINITY}) {
    const auto bytes = group_of({1.0f, 2.0f, odd});
    EXPECT_EQ(int8_value(bytes, 0), INFINITY);
    EXPECT_EQ(int8_value(bytes, 2), INFINITY);
  }
}

}  // namespace
}  // namespace ztvm
