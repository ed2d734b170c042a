#include "base/quant_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/half.hpp"

namespace ztvm {
namespace {

constexpr std::uint32_t k_dim = 64;

std::vector<float> wave(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(0.37f * static_cast<float>(i)) * 3.0f - 0.5f;
  return values;
}

std::vector<float> dequantise(QuantKind kind, const QuantisedRows& rows, std::uint32_t dim, std::size_t row) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  std::vector<float> out(dim);
  dequantise_row(
      kind, Bytes(rows.words).subspan(row * layout.words_bytes_per_row(), layout.words_bytes_per_row()),
      Bytes(rows.scales).subspan(row * layout.scales_bytes_per_row(), layout.scales_bytes_per_row()), out);
  return out;
}

TEST(QuantLayout, RowSizes) {
  EXPECT_EQ((QuantLayout{QuantKind::f32, 96}).words_bytes_per_row(), 384u);
  EXPECT_EQ((QuantLayout{QuantKind::f16, 96}).words_bytes_per_row(), 192u);
  EXPECT_EQ((QuantLayout{QuantKind::q8, 96}).words_bytes_per_row(), 96u);
  EXPECT_EQ((QuantLayout{QuantKind::q4, 96}).words_bytes_per_row(), 48u);
  EXPECT_EQ((QuantLayout{QuantKind::q8, 96}).scales_bytes_per_row(), 12u);
  EXPECT_EQ((QuantLayout{QuantKind::q4, 96}).scales_bytes_per_row(), 12u);
  EXPECT_EQ((QuantLayout{QuantKind::f16, 96}).scales_bytes_per_row(), 0u);
}

TEST(QuantLayout, Q4NibbleOrder) {
  std::vector<std::byte> words(16);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::byte>(i | ((15 - i) << 4));
  const std::uint32_t scale = float_to_half(0.5f) | (std::uint32_t{float_to_half(-2.0f)} << 16);
  std::vector<float> out(32);
  dequantise_row(QuantKind::q4, words, as_bytes(std::span(&scale, 1)), out);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], 0.5f * static_cast<float>(i) - 2.0f);
    EXPECT_EQ(out[16 + i], 0.5f * static_cast<float>(15 - i) - 2.0f);
  }
}

TEST(QuantLayout, Q8IsUnsigned) {
  std::vector<std::byte> words(32);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::byte>(8 * i);
  const std::uint32_t scale = float_to_half(0.25f) | (std::uint32_t{float_to_half(-32.0f)} << 16);
  std::vector<float> out(32);
  dequantise_row(QuantKind::q8, words, as_bytes(std::span(&scale, 1)), out);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0.25f * (8.0f * static_cast<float>(i) - 128.0f));
}

TEST(QuantLayout, QuantiseStaysWithinHalfAStep) {
  const std::vector<float> values = wave(2 * k_dim);
  // The largest step of a group: range 6 over 15 levels, or 3.5 over 127; half of it, and rounding of d and m
  // to f16.
  const std::pair<QuantKind, float> bounds[] = {
      {QuantKind::f32, 0.0f}, {QuantKind::f16, 0.002f}, {QuantKind::q8, 0.016f}, {QuantKind::q4, 0.21f}};
  for (const auto& [kind, bound] : bounds) {
    const QuantisedRows rows = quantise_rows(kind, values, k_dim);
    for (std::size_t row = 0; row < 2; ++row) {
      const std::vector<float> back = dequantise(kind, rows, k_dim, row);
      for (std::size_t i = 0; i < k_dim; ++i) EXPECT_NEAR(back[i], values[row * k_dim + i], bound);
    }
  }
}

TEST(QuantLayout, ConstantGroupsAreExact) {
  const std::vector<float> constant(k_dim, 1.5f);
  EXPECT_EQ(dequantise(QuantKind::q4, quantise_rows(QuantKind::q4, constant, k_dim), k_dim, 0), constant);
  const std::vector<float> zeros(k_dim, 0.0f);
  EXPECT_EQ(dequantise(QuantKind::q8, quantise_rows(QuantKind::q8, zeros, k_dim), k_dim, 0), zeros);
}

}  // namespace
}  // namespace ztvm
