#include "kernels/rope_kv/rope_kv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(RopeKv, TableByHand) {
  const std::vector<float> table = rope_table(3, 4, 10000.0);
  ASSERT_EQ(table.size(), 3u * 2u * 2u);
  EXPECT_EQ(table[0], 1.0f);
  EXPECT_EQ(table[1], 0.0f);
  EXPECT_FLOAT_EQ(table[4], 0.54030231f);  // cos 1
  EXPECT_FLOAT_EQ(table[5], 0.84147098f);  // sin 1
  EXPECT_FLOAT_EQ(table[6], 0.99995000f);  // cos 0.01
  EXPECT_FLOAT_EQ(table[7], 0.0099998333f);
  EXPECT_FLOAT_EQ(table[8], -0.41614684f);  // cos 2
}

TEST(RopeKv, FactorsDivideFrequencies) {
  const float factors[] = {1.0f, 8.0f};
  const std::vector<float> plain = rope_table(3, 4, 10000.0);
  const std::vector<float> scaled = rope_table(3, 4, 10000.0, factors);
  for (std::size_t position = 0; position < 3; ++position) {
    EXPECT_EQ(scaled[4 * position], plain[4 * position]);
    EXPECT_FLOAT_EQ(scaled[4 * position + 3],
                    static_cast<float>(std::sin(0.01 / 8 * static_cast<double>(position))));
  }
  const float ones[] = {1.0f, 1.0f};
  EXPECT_EQ(rope_table(3, 4, 10000.0, ones), plain);
}

// One query head and one kv head of 4 elements, of which the first two rotate, at position 17 (page 1, slot 1).
TEST(RopeKv, OracleByHand) {
  constexpr AttentionShape k_shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 4};
  HostTensor step(Step{.n_rows = 1, .position = 17});
  HostTensor qkv = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 10.0f, 11.0f, 12.0f};
  HostTensor rope(gpu::Dtype::f32, 18 * 2);
  rope.view().store(34, 0.6f);
  rope.view().store(35, 0.8f);
  HostTensor pages = HostTensor::words({0, 2});
  HostTensor q(gpu::Dtype::f32, 4);
  HostTensor keys(gpu::Dtype::f32, 3 * 16 * 4);
  HostTensor values(gpu::Dtype::f32, 3 * 16 * 4);
  rope_kv_reference(
      std::array{step.view(), qkv.view(), rope.view(), pages.view(), q.view(), keys.view(), values.view()},
      {.heads = k_shape, .n_rotated = 2, .row_heads = 3});
  EXPECT_FLOAT_EQ(q[0], 1.0f * 0.6f - 2.0f * 0.8f);
  EXPECT_FLOAT_EQ(q[1], 2.0f * 0.6f + 1.0f * 0.8f);
  EXPECT_EQ(q[2], 3.0f);
  EXPECT_EQ(q[3], 4.0f);
  const std::size_t at = (2 * 16 + 1) * 4;
  EXPECT_FLOAT_EQ(keys[at], 5.0f * 0.6f - 6.0f * 0.8f);
  EXPECT_FLOAT_EQ(keys[at + 1], 6.0f * 0.6f + 5.0f * 0.8f);
  EXPECT_EQ(keys[at + 3], 8.0f);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(values[at + i], 9.0f + static_cast<float>(i));
  EXPECT_EQ(keys[at - 1], 0.0f);
  EXPECT_EQ(values[at + 4], 0.0f);
}

// A rotated pair is one complex number: rotation keeps lengths, and q k depends on the distance alone.
TEST(RopeKv, OracleKeepsDistances) {
  constexpr AttentionShape k_shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 8};
  const std::vector<float> table = rope_table(16, 8, 10000.0);
  HostTensor rope(gpu::Dtype::f32, table.size());
  for (std::size_t i = 0; i < table.size(); ++i) rope.view().store(i, table[i]);
  HostTensor qkv(gpu::Dtype::f32, 24);
  for (std::size_t i = 0; i < 24; ++i) qkv.view().store(i, std::sin(static_cast<float>(i) + 1.0f));
  HostTensor pages = HostTensor::words({0});
  HostTensor keys(gpu::Dtype::f32, 16 * 8);
  HostTensor values(gpu::Dtype::f32, 16 * 8);
  std::vector<HostTensor> queries(16, HostTensor(gpu::Dtype::f32, 8));
  for (std::uint32_t position = 0; position < 16; ++position) {
    HostTensor step(Step{.n_rows = 1, .position = position});
    rope_kv_reference(std::array{step.view(), qkv.view(), rope.view(), pages.view(), queries[position].view(),
                                 keys.view(), values.view()},
                      {.heads = k_shape, .n_rotated = 8, .row_heads = 3});
  }
  const auto score = [&](std::size_t query, std::size_t key) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 8; ++i) sum += double{queries[query][i]} * keys[key * 8 + i];
    return sum;
  };
  for (std::size_t position = 3; position < 16; ++position) {
    EXPECT_NEAR(score(position, position), score(0, 0), 1e-6);
    EXPECT_NEAR(score(position, position - 3), score(3, 0), 1e-6);
  }
  EXPECT_GT(std::abs(score(3, 0) - score(0, 0)), 1e-3);
}

// Two rows of one query head, key head, value head and a gate that isn't read; position 0, so nothing turns.
TEST(RopeKv, OracleNormsHeadsOfGatedRows) {
  constexpr AttentionShape k_shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 4};
  HostTensor step(Step{.n_rows = 2, .position = 0});
  // Row 0: q has mean of squares 25 / 4, k 4. Row 1: q is zero, so eps alone is under the root.
  HostTensor qkv = {0.0f, 3.0f, 0.0f, 4.0f, 2.0f, 2.0f, -2.0f, 2.0f, 5.0f, 6.0f, 7.0f,
                    8.0f, 9.0f, 9.0f, 9.0f, 9.0f, 0.0f, 0.0f,  0.0f, 0.0f, 4.0f, 4.0f,
                    4.0f, 4.0f, 1.0f, 1.0f, 1.0f, 1.0f, 9.0f,  9.0f, 9.0f, 9.0f};
  HostTensor rope = {1.0f, 0.0f, 0.0f, 1.0f};  // position 1 turns by 90 degrees
  HostTensor pages = HostTensor::words({0});
  HostTensor q(gpu::Dtype::f32, 2 * 4);
  HostTensor keys(gpu::Dtype::f32, 16 * 4);
  HostTensor values(gpu::Dtype::f32, 16 * 4);
  HostTensor qk_norm = {1.0f, 2.0f, 3.0f, -4.0f, 10.0f, 20.0f, 30.0f, 40.0f};
  rope_kv_reference(std::array{step.view(), qkv.view(), rope.view(), pages.view(), q.view(), keys.view(),
                               values.view(), qk_norm.view()},
                    {.heads = k_shape, .n_rotated = 2, .row_heads = 4, .has_norm = true, .norm_eps = 2.25f});
  const float q_scale = 1.0f / std::sqrt(8.5f);
  EXPECT_FLOAT_EQ(q[1], 6.0f * q_scale);
  EXPECT_FLOAT_EQ(q[3], -16.0f * q_scale);
  EXPECT_FLOAT_EQ(keys[0], 20.0f / 2.5f);
  EXPECT_FLOAT_EQ(keys[2], -60.0f / 2.5f);
  EXPECT_EQ(values[3], 8.0f);
  EXPECT_EQ(q[4 + 1], 0.0f);
  const float k_scale = 4.0f / std::sqrt(18.25f);
  EXPECT_FLOAT_EQ(keys[4], -20.0f * k_scale);
  EXPECT_FLOAT_EQ(keys[5], 10.0f * k_scale);
  EXPECT_FLOAT_EQ(keys[7], 40.0f * k_scale);
  EXPECT_EQ(values[4], 1.0f);
}

// A head of 40 elements takes two groups a position; position 17 is in page 1, slot 1.
TEST(RopeKv, OracleRoundsToInt8) {
  constexpr AttentionShape k_shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 40};
  constexpr std::size_t k_slot = 64;
  ASSERT_EQ(slot_elements(k_shape, gpu::Dtype::i8_groups), k_slot);
  HostTensor step(Step{.n_rows = 1, .position = 17});
  HostTensor qkv(gpu::Dtype::f32, 3 * 40);
  for (std::size_t i = 0; i < 40; ++i) qkv.view().store(40 + i, static_cast<float>(i));     // key
  for (std::size_t i = 0; i < 40; ++i) qkv.view().store(80 + i, i < 32 ? -2.54f : 0.127f);  // value
  HostTensor rope(gpu::Dtype::f32, 18 * 2);
  rope.view().store(34, 0.0f);
  rope.view().store(35, 1.0f);  // elements 0 and 1 turn by 90 degrees
  HostTensor pages = HostTensor::words({0, 1});
  HostTensor q(gpu::Dtype::f32, 40);
  HostTensor keys(gpu::Dtype::i8_groups, 2 * 16 * k_slot);
  HostTensor values(gpu::Dtype::i8_groups, 2 * 16 * k_slot);
  rope_kv_reference(
      std::array{step.view(), qkv.view(), rope.view(), pages.view(), q.view(), keys.view(), values.view()},
      {.heads = k_shape, .n_rotated = 2, .row_heads = 3});
  const std::size_t at = 17 * k_slot;
  EXPECT_FLOAT_EQ(int8_scale(keys.view().bytes, at / 32), 31.0f / 127.0f);
  EXPECT_FLOAT_EQ(int8_scale(keys.view().bytes, at / 32 + 1), 39.0f / 127.0f);
  EXPECT_EQ(int8_level(keys.view().bytes, at), -4);  // -1 / (31 / 127) = -4.1
  EXPECT_EQ(int8_level(keys.view().bytes, at + 1), 0);
  EXPECT_EQ(int8_level(keys.view().bytes, at + 31), 127);
  EXPECT_EQ(int8_level(keys.view().bytes, at + 39), 127);
  EXPECT_EQ(int8_level(values.view().bytes, at + 5), -127);
  EXPECT_FLOAT_EQ(values[at + 33], 0.127f);
  EXPECT_EQ(keys[at - 1], 0.0f);
  EXPECT_EQ(keys[at + k_slot], 0.0f);
}

}  // namespace
}  // namespace ztvm::kernels
