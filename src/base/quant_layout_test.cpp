#include "base/quant_layout.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/quant_levels.hpp"

namespace ztvm {
namespace {

constexpr std::uint32_t k_dim = 256;

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
  EXPECT_EQ((QuantLayout{QuantKind::bf16, 96}).words_bytes_per_row(), 192u);
  EXPECT_EQ((QuantLayout{QuantKind::q3, 96}).words_bytes_per_row(), 36u);
  EXPECT_EQ((QuantLayout{QuantKind::q3, 96}).scales_bytes_per_row(), 12u);
  EXPECT_EQ((QuantLayout{QuantKind::q4_k, 512}).words_bytes_per_row(), 256u);
  EXPECT_EQ((QuantLayout{QuantKind::q5_k, 512}).words_bytes_per_row(), 320u);
  EXPECT_EQ((QuantLayout{QuantKind::q6_k, 512}).words_bytes_per_row(), 384u);
  for (const QuantKind kind : {QuantKind::q4_k, QuantKind::q5_k, QuantKind::q6_k})
    EXPECT_EQ((QuantLayout{kind, 512}).scales_bytes_per_row(), 40u);
}

// Sets one bit of a row's words and tells which element that changes, and by how many levels.
std::pair<std::size_t, float> element_of_bit(QuantKind kind, std::size_t bit) {
  const QuantLayout layout = {.kind = kind, .dim = QuantLayout{.kind = kind}.dim_multiple()};
  std::vector<std::byte> words(layout.words_bytes_per_row());
  std::vector<std::byte> scales(layout.scales_bytes_per_row(), std::byte{1});  // every sub-scale is 1
  const std::uint32_t d = kind == QuantKind::q6_k ? std::bit_cast<std::uint32_t>(1.0f) : float_to_half(1.0f);
  std::memcpy(scales.data(), &d, sizeof(d));
  std::vector<float> before(layout.dim);
  std::vector<float> after(layout.dim);
  dequantise_row(kind, words, scales, before);
  words[bit / 8] |= static_cast<std::byte>(1u << (bit % 8));
  dequantise_row(kind, words, scales, after);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (after[i] != before[i]) return {i, after[i] - before[i]};
  return {layout.dim, 0.0f};
}

TEST(QuantLayout, PlaceOfEachBit) {
  using Place = std::pair<std::size_t, float>;
  // q3: bit 2p+1 of byte b of word j; bit t of byte b of word 2.
  EXPECT_EQ(element_of_bit(QuantKind::q3, 1 * 32 + 3 * 8 + 2 * 2 + 1), (Place{16 + 8 + 3, 2.0f}));
  EXPECT_EQ(element_of_bit(QuantKind::q3, 2 * 32 + 1 * 8 + 6), (Place{4 * 6 + 1, 4.0f}));
  EXPECT_EQ(element_of_bit(QuantKind::q4_k, 2 * 32 + 1 * 8 + 7), (Place{16 + 8 + 1, 8.0f}));
  EXPECT_EQ(element_of_bit(QuantKind::q5_k, 4 * 32 + 2 * 8 + 5), (Place{4 * 5 + 2, 16.0f}));
  EXPECT_EQ(element_of_bit(QuantKind::q6_k, 3 * 32 + 0 * 8 + 2), (Place{12, 4.0f}));
  EXPECT_EQ(element_of_bit(QuantKind::q6_k, 5 * 32 + 1 * 8 + 2 * 3), (Place{16 + 12 + 1, 16.0f}));
}

TEST(QuantLayout, LevelsSurvivePacking) {
  for (const QuantKind kind : k_all_quant_kinds) {
    const QuantLayout layout = {.kind = kind, .dim = k_quant_group};
    if (!layout.has_scales()) continue;
    GroupLevels levels{};
    for (std::size_t i = 0; i < levels.size(); ++i)
      levels[i] = static_cast<std::uint8_t>((i * 37 + 5) % (1u << layout.word_bits()));
    std::vector<std::byte> group(layout.words_bytes_per_row());
    pack_levels(kind, levels, group);
    GroupLevels back{};
    back.fill(0xFF);
    unpack_levels(kind, group, back);
    EXPECT_EQ(back, levels) << to_string(kind);
  }
}

TEST(QuantLayout, SuperBlockScalesByHand) {
  std::vector<std::byte> words(128, std::byte{0x33});  // every level is 3
  std::vector<std::byte> scales(20);
  const std::uint32_t units = float_to_half(0.5f) | (std::uint32_t{float_to_half(0.25f)} << 16);
  std::memcpy(scales.data(), &units, sizeof(units));
  scales[4 + 2 * 5] = std::byte{63};
  scales[4 + 2 * 5 + 1] = std::byte{7};
  std::vector<float> out(256);
  dequantise_row(QuantKind::q4_k, words, scales, out);
  EXPECT_EQ(out[5 * 32], 0.5f * 63 * 3 - 0.25f * 7);
  EXPECT_EQ(out[4 * 32 + 31], 0.0f);

  words.resize(192);  // with upper bits 0
  std::memset(words.data(), 0, words.size());
  const float d = -0.125f;
  std::memcpy(scales.data(), &d, sizeof(d));
  scales[4 + 11] = std::byte{0x80};  // -128, of elements 16..31 of group 5
  dequantise_row(QuantKind::q6_k, words, scales, out);
  EXPECT_EQ(out[5 * 32 + 16], -0.125f * -128 * -32);
  EXPECT_EQ(out[5 * 32 + 15], -0.125f * 63 * -32);
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
  // Half of the largest step (a range of 6 over the levels; q6_k 3.5 over 32), and the rounding of scales to f16,
  // or to six bits of the largest.
  const std::pair<QuantKind, float> bounds[] = {
      {QuantKind::f32, 0.0f},  {QuantKind::f16, 0.002f}, {QuantKind::bf16, 0.008f},
      {QuantKind::q8, 0.016f}, {QuantKind::q4, 0.21f},   {QuantKind::q3, 0.44f},
      {QuantKind::q4_k, 0.3f}, {QuantKind::q5_k, 0.2f},  {QuantKind::q6_k, 0.13f}};
  for (const auto& [kind, bound] : bounds) {
    const QuantisedRows rows = quantise_rows(kind, values, k_dim);
    for (std::size_t row = 0; row < 2; ++row) {
      const std::vector<float> back = dequantise(kind, rows, k_dim, row);
      for (std::size_t i = 0; i < k_dim; ++i)
        EXPECT_NEAR(back[i], values[row * k_dim + i], bound) << to_string(kind);
    }
  }
}

TEST(QuantLayout, ConstantGroupsAreExact) {
  const std::vector<float> constant(k_dim, 1.5f);
  EXPECT_EQ(dequantise(QuantKind::q4, quantise_rows(QuantKind::q4, constant, k_dim), k_dim, 0), constant);
  const std::vector<float> zeros(k_dim, 0.0f);
  for (const QuantKind kind : k_all_quant_kinds)
    EXPECT_EQ(dequantise(kind, quantise_rows(kind, zeros, k_dim), k_dim, 0), zeros) << to_string(kind);
}

TEST(QuantLayout, Bfloats) {
  EXPECT_EQ(bfloat_to_float(0xC040), -3.0f);
  EXPECT_EQ(float_to_bfloat(-3.0f), 0xC040);
  EXPECT_EQ(float_to_bfloat(0x1.01p0f), 0x3F80);  // ties to even
  EXPECT_EQ(float_to_bfloat(0x1.03p0f), 0x3F82);
  EXPECT_TRUE(std::isinf(bfloat_to_float(float_to_bfloat(3.4e38f))));
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(std::bit_cast<float>(0x7F800001u)))));
}

}  // namespace
}  // namespace ztvm
