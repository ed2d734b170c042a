// The comparison of an op with its oracle: values that are not finite, groups of int8.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "base/int8_groups.hpp"
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

// Two groups of int8, of which `change` gets the first.
std::optional<Mismatch> compared_groups(const std::function<void(std::span<std::byte>)>& change) {
  Op op = {.name = "op", .tolerance = 1e-3f};
  op.bindings.push_back({.tensor = {.dtype = Dtype::i8_groups}, .access = Access::read_write});
  std::vector<std::byte> want(2 * k_int8_group_bytes);
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(static_cast<float>(i - 20));
  HostView{want, Dtype::i8_groups}.store_all(0, values);
  std::vector<std::byte> got = want;
  change(got);
  const HostView got_view = {got, Dtype::i8_groups};
  const HostView want_view = {want, Dtype::i8_groups};
  return compare(op, {&got_view, 1}, {&want_view, 1});
}

void add_to_level(std::span<std::byte> bytes, std::size_t i, int difference) {
  bytes[i] = static_cast<std::byte>(int8_level(bytes, i) + difference);
}

TEST(Compare, FewLevelsOfAGroupMayDifferByOne) {
  EXPECT_FALSE(compared_groups([](auto) {}));
  EXPECT_FALSE(compared_groups([](auto bytes) {
    for (std::size_t i = 0; i < 4; ++i) add_to_level(bytes, i, i % 2 == 0 ? 1 : -1);
  }));
  const auto many = compared_groups([](auto bytes) {
    for (std::size_t i = 0; i < 5; ++i) add_to_level(bytes, i, 1);
  });
  ASSERT_TRUE(many);
  EXPECT_EQ(many->n_wrong, 5u);
  const auto far = compared_groups([](auto bytes) { add_to_level(bytes, 7, 2); });
  ASSERT_TRUE(far);
  EXPECT_EQ(far->element, 7u);
}

TEST(Compare, ScalesOfGroupsAreHeldToTheTolerance) {
  const auto scaled = [](float factor) {
    return compared_groups([factor](std::span<std::byte> bytes) {
      const float scale = int8_scale(bytes, 0) * factor;
      std::memcpy(bytes.data() + k_int8_group, &scale, sizeof(scale));
    });
  };
  EXPECT_FALSE(scaled(1.0001f));
  EXPECT_TRUE(scaled(1.01f));
  EXPECT_TRUE(scaled(k_nan));
  EXPECT_TRUE(scaled(k_inf));
}

}  // namespace
}  // namespace ztvm::gpu
