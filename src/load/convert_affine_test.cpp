// Rows of q4f16_1 and affine tensors, converted and dequantised, against values by hand and decoders that read one
// bit at a time.
#include "load/convert_affine.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "load/half_numbers.hpp"

namespace ztvm::load {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t n) {
  std::mt19937 random(11);
  std::vector<std::uint8_t> bytes(n);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// Field `i` of a stream of `bits` bits a field, lowest bit first.
std::uint32_t field(const std::vector<std::uint8_t>& stream, std::size_t i, std::uint32_t bits) {
  std::uint32_t value = 0;
  for (std::size_t b = 0; b < bits; ++b) {
    const std::size_t at = i * bits + b;
    value |= ((stream[at / 8] >> (at % 8)) & 1u) << b;
  }
  return value;
}

// `numbers` as the bytes of `dtype`.
std::vector<std::byte> store(Dtype dtype, const std::vector<float>& numbers) {
  std::vector<std::byte> bytes;
  for (const float number : numbers) {
    const std::uint32_t word = dtype == Dtype::f32   ? std::bit_cast<std::uint32_t>(number)
                               : dtype == Dtype::f16 ? float_to_half(number)
                                                     : float_to_bfloat(number);
    for (std::size_t i = 0; i < (dtype == Dtype::f32 ? 4u : 2u); ++i)
      bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
  }
  return bytes;
}

struct Row {
  bool converted = false;
  std::vector<float> values;
};

Row convert(const RowSource& source, QuantKind kind, std::uint32_t dim) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  std::vector<std::byte> words(layout.words_bytes_per_row());
  std::vector<std::byte> scales(layout.scales_bytes_per_row());
  Row row = {.values = std::vector<float>(dim)};
  row.converted = convert_row(source, kind, words, scales);
  dequantise_row(kind, words, scales, row.values);
  return row;
}

Row convert_mlc(const std::vector<std::uint8_t>& words, const std::vector<float>& scales) {
  const std::vector<std::byte> halves = store(Dtype::f16, scales);
  return convert({.dtype = Dtype::mlc_q4, .words = as_bytes(words), .scales = halves}, QuantKind::q4,
                 static_cast<std::uint32_t>(words.size() * 2));
}

TEST(HalfNumbers, ShortCutsGiveWhatTheWayByFloatGives) {
  for (std::uint32_t i = 0; i < 0x10000u; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    ASSERT_EQ(eight_times(bits), float_to_half(8.0f * half_to_float(bits))) << i;
    ASSERT_EQ(bfloat_to_half(bits), float_to_half(bfloat_to_float(bits))) << i;
  }
}

TEST(ConvertAffine, MlcIsExact) {
  const std::vector<float> scales = {0.37f, -1.25f, 0.0f, 0x1p-24f, 0x3p-22f, 8188.0f};
  const std::vector<std::uint8_t> words = random_bytes(scales.size() * 16);
  const Row row = convert_mlc(words, scales);
  ASSERT_TRUE(row.converted);
  bool has_15 = false;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const std::uint32_t nibble = field(words, i, 4);
    has_15 |= nibble == 15;
    EXPECT_EQ(row.values[i], (static_cast<float>(nibble) - 7.0f) * round_to_half(scales[i / 32])) << i;
  }
  EXPECT_TRUE(has_15) << "MLC does not write 15, but it has a value";
}

TEST(ConvertAffine, MlcNibblesByHand) {
  std::vector<std::uint8_t> words(16, 0x77);
  words[0] = 0xF0;   // elements 0 and 1 are 0 and 15
  words[15] = 0x80;  // element 31 is 8
  const Row row = convert_mlc(words, {0.5f});
  EXPECT_EQ(row.values[0], -3.5f);
  EXPECT_EQ(row.values[1], 4.0f);
  EXPECT_EQ(row.values[2], 0.0f);
  EXPECT_EQ(row.values[30], -3.5f);
  EXPECT_EQ(row.values[31], 0.5f);
}

TEST(ConvertAffine, MlcScalesMustFit) {
  const std::vector<std::uint8_t> words(32);
  EXPECT_FALSE(convert_mlc(words, {1.0f, 8192.0f}).converted);
  EXPECT_FALSE(convert_mlc(words, {-std::numeric_limits<float>::infinity(), 1.0f}).converted);
  EXPECT_FALSE(convert_mlc(words, {1.0f, std::numeric_limits<float>::quiet_NaN()}).converted);
}

struct AffineCase {
  std::uint32_t bits;
  std::uint32_t group;
  Dtype scale_dtype;
  Dtype bias_dtype;
};

QuantKind kind_of(std::uint32_t bits) {
  return bits == 3 ? QuantKind::q3 : bits == 4 ? QuantKind::q4 : QuantKind::q8;
}

void expect_exact(const AffineCase& c) {
  constexpr std::uint32_t k_dim = 384;
  std::mt19937 random(c.bits + c.group);
  std::vector<float> scales(k_dim / c.group);
  std::vector<float> biases(k_dim / c.group);
  // Eight significant bits, which every type and f16 hold; both signs.
  for (float& s : scales) s = (static_cast<float>(random() % 256) - 128.0f) * 0x1p-14f;
  for (float& b : biases) b = (static_cast<float>(random() % 256) - 128.0f) * 0x1p-9f;
  const std::vector<std::uint8_t> words = random_bytes(k_dim * c.bits / 8);
  const auto scale_bytes = store(c.scale_dtype, scales);
  const auto bias_bytes = store(c.bias_dtype, biases);
  const Row row = convert({.dtype = Dtype::affine,
                           .bits = c.bits,
                           .group = c.group,
                           .scale_dtype = c.scale_dtype,
                           .bias_dtype = c.bias_dtype,
                           .words = as_bytes(words),
                           .scales = scale_bytes,
                           .biases = bias_bytes},
                          kind_of(c.bits), k_dim);
  ASSERT_TRUE(row.converted);
  for (std::size_t i = 0; i < k_dim; ++i) {
    const auto q = static_cast<float>(field(words, i, c.bits));
    ASSERT_EQ(row.values[i], scales[i / c.group] * q + biases[i / c.group]) << "element " << i;
  }
}

TEST(ConvertAffine, EveryWidthGroupAndType) {
  for (const std::uint32_t bits : {3u, 4u, 8u}) {
    for (const std::uint32_t group : {32u, 64u, 128u}) {
      for (const auto& [scale, bias] :
           {std::pair{Dtype::bf16, Dtype::bf16}, std::pair{Dtype::f16, Dtype::f32},
            std::pair{Dtype::f32, Dtype::f16}}) {
        SCOPED_TRACE(testing::Message() << bits << " bits in groups of " << group);
        expect_exact({bits, group, scale, bias});
      }
    }
  }
}

TEST(ConvertAffine, ThreeBitFieldsStraddleWords) {
  std::vector<std::uint8_t> words(12);
  words[3] = 0x80;  // bit 31: bit 1 of element 10, whose bit 2 is in the next word
  words[4] = 0x01;
  words[8] = 0x03;  // bits 64 and 65: bit 1 and bit 2 of element 21
  const auto ones = store(Dtype::f16, {1.0f});
  const auto zeros = store(Dtype::f16, {0.0f});
  const Row row = convert({.dtype = Dtype::affine,
                           .bits = 3,
                           .group = 32,
                           .words = as_bytes(words),
                           .scales = ones,
                           .biases = zeros},
                          QuantKind::q3, 32);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(row.values[i], i == 10 || i == 21 ? 6.0f : 0.0f) << i;
}

// One group of 64 zeros with this scale and bias.
Row convert_one(float scale, float bias) {
  const std::vector<std::uint8_t> words(32);
  const auto scales = store(Dtype::bf16, {scale});
  const auto biases = store(Dtype::bf16, {bias});
  return convert({.dtype = Dtype::affine,
                  .bits = 4,
                  .group = 64,
                  .scale_dtype = Dtype::bf16,
                  .bias_dtype = Dtype::bf16,
                  .words = as_bytes(words),
                  .scales = scales,
                  .biases = biases},
                 QuantKind::q4, 64);
}

TEST(ConvertAffine, ScalesMustFit) {
  EXPECT_TRUE(convert_one(65280.0f, -65280.0f).converted);
  EXPECT_FALSE(convert_one(65536.0f, 0.0f).converted);
  EXPECT_FALSE(convert_one(1.0f, 1e6f).converted);
  EXPECT_FALSE(convert_one(std::numeric_limits<float>::quiet_NaN(), 0.0f).converted);
  EXPECT_FALSE(convert_one(1.0f, -std::numeric_limits<float>::infinity()).converted);
}

TEST(ConvertAffine, TinyNumbersAreRounded) {
  const Row exact = convert_one(1.0f, 0x1.FEp-17f);
  EXPECT_EQ(exact.values[0], 0x1.FEp-17f);
  const Row rounded = convert_one(1e-7f, 1e-7f);  // the scale that MLX gives to a group of equal weights
  ASSERT_TRUE(rounded.converted);
  EXPECT_NEAR(rounded.values[0], 1e-7f, 0x1p-25f);
}

}  // namespace
}  // namespace ztvm::load
