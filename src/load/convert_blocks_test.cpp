// Rows of GGUF blocks, converted and dequantised, against values by hand and against decoders that are written here
// element by element from ggml's formats.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/half.hpp"
#include "load/transform.hpp"

namespace ztvm::load {
namespace {

using Block = std::vector<std::uint8_t>;

void put_half(Block& bytes, std::size_t at, float value) {
  const std::uint16_t half = float_to_half(value);
  bytes[at] = static_cast<std::uint8_t>(half);
  bytes[at + 1] = static_cast<std::uint8_t>(half >> 8);
}

float half_at(const Block& bytes, std::size_t at) {
  return half_to_float(static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8)));
}

// f16 numbers, then bytes that count up by 37.
Block block(std::initializer_list<float> halves, std::size_t n_quants) {
  Block bytes(halves.size() * 2);
  std::size_t at = 0;
  for (const float value : halves) put_half(bytes, std::exchange(at, at + 2), value);
  for (std::size_t i = 0; i < n_quants; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + 11));
  return bytes;
}

struct Row {
  std::vector<std::byte> words;
  std::vector<std::byte> scales;
  bool converted = false;
  std::vector<float> values;
};

Row convert(Dtype dtype, const Block& source, QuantKind kind) {
  const std::size_t dim = source.size() / info(dtype).block_bytes * info(dtype).block_elements;
  const QuantLayout layout = {.kind = kind, .dim = static_cast<std::uint32_t>(dim)};
  Row row = {.words = std::vector<std::byte>(layout.words_bytes_per_row()),
             .scales = std::vector<std::byte>(layout.scales_bytes_per_row()),
             .values = std::vector<float>(dim)};
  row.converted = convert_row(dtype, kind, as_bytes(source), row.words, row.scales);
  dequantise_row(kind, row.words, row.scales, row.values);
  return row;
}

// Random bytes with finite scales of either sign at `half_offsets` of each block.
Block random_blocks(Dtype dtype, std::size_t n_blocks, std::vector<std::size_t> half_offsets) {
  std::mt19937 random(7);
  Block bytes(n_blocks * info(dtype).block_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  for (std::size_t b = 0; b < n_blocks; ++b) {
    for (const std::size_t offset : half_offsets) {
      const float magnitude = b % 3 == 0 ? 1e-6f : 1e-2f;  // subnormal and normal in f16
      const float value = magnitude * (static_cast<float>(random() % 2001) - 1000.0f);
      put_half(bytes, b * info(dtype).block_bytes + offset, value);
    }
  }
  return bytes;
}

// Scale and min of sub-block j of 12 packed bytes.
std::pair<int, int> scale_and_min(const std::uint8_t* packed, std::size_t j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | ((packed[j - 4] >> 6) << 4), (packed[j + 4] >> 4) | ((packed[j] >> 6) << 4)};
}

float q4_k_or_q5_k_element(const Block& block, std::size_t e, bool five) {
  const auto [scale, min] = scale_and_min(block.data() + 4, e / 32);
  const std::uint8_t pair = block[(five ? 48 : 16) + e / 64 * 32 + e % 32];
  int q = e / 32 % 2 == 0 ? pair & 15 : pair >> 4;
  if (five && ((block[16 + e % 32] >> (e / 32)) & 1) != 0) q += 16;
  return half_at(block, 0) * static_cast<float>(scale) * static_cast<float>(q) -
         half_at(block, 2) * static_cast<float>(min);
}

float q6_k_element(const Block& block, std::size_t e) {
  const std::size_t half = e / 128;
  const std::size_t l = e % 32;
  const std::size_t quarter = e % 128 / 32;
  const std::uint8_t pair = block[half * 64 + (quarter % 2) * 32 + l];
  const int low = quarter < 2 ? pair & 15 : pair >> 4;
  const int high = (block[128 + half * 32 + l] >> (2 * quarter)) & 3;
  const int scale = static_cast<std::int8_t>(block[192 + half * 8 + quarter * 2 + l / 16]);
  return half_at(block, 208) * static_cast<float>(scale) * static_cast<float>((low | (high << 4)) - 32);
}

template <typename Decoder>
void expect_decoded(Dtype dtype, QuantKind kind, const Block& source, Decoder element) {
  const Row row = convert(dtype, source, kind);
  ASSERT_TRUE(row.converted);
  const DtypeInfo& format = info(dtype);
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const auto first =
        source.begin() + static_cast<std::ptrdiff_t>(i / format.block_elements * format.block_bytes);
    const Block one(first, first + format.block_bytes);
    ASSERT_EQ(row.values[i], element(one, i % format.block_elements)) << "element " << i;
  }
}

TEST(ConvertBlocks, Q4_0IsSymmetricAround8) {
  const Block source = block({-0.37f}, 16);
  const float d = round_to_half(-0.37f);
  const std::vector<float> values = convert(Dtype::q4_0, source, QuantKind::q4).values;
  for (std::size_t i = 0; i < 16; ++i) {
    const int pair = source[2 + i];
    EXPECT_EQ(values[i], d * static_cast<float>((pair & 15) - 8));
    EXPECT_EQ(values[16 + i], d * static_cast<float>((pair >> 4) - 8));
  }
}

TEST(ConvertBlocks, Q4_0SubnormalScaleIsExact) {
  const Block source = block({0x3p-24f}, 16);
  const std::vector<float> values = convert(Dtype::q4_0, source, QuantKind::q4).values;
  EXPECT_EQ(values[0], 0x3p-24f * static_cast<float>((source[2] & 15) - 8));
}

TEST(ConvertBlocks, Q4_1IsKept) {
  const std::vector<float> values = convert(Dtype::q4_1, block({0.5f, -3.0f}, 16), QuantKind::q4).values;
  EXPECT_EQ(values[0], 0.5f * 11.0f - 3.0f);
  EXPECT_EQ(values[17], 0.5f * 3.0f - 3.0f);  // the second byte is 48
}

int five_bit_level(const Block& block, std::size_t first, std::size_t e) {
  const std::uint8_t pair = block[first + 4 + e % 16];
  const int fifth = (block[first + e / 8] >> (e % 8)) & 1;
  return (e < 16 ? pair & 15 : pair >> 4) + 16 * fifth;
}

TEST(ConvertBlocks, Q5_0IsSymmetricAround16) {
  expect_decoded(Dtype::q5_0, QuantKind::q8, random_blocks(Dtype::q5_0, 40, {0}),
                 [](const Block& b, std::size_t e) {
                   return half_at(b, 0) * static_cast<float>(five_bit_level(b, 2, e) - 16);
                 });
}

TEST(ConvertBlocks, Q5_1IsKept) {
  // By hand: the fifth bits are 11, 48, 85, 122, the first nibbles those of 159.
  const std::vector<float> values = convert(Dtype::q5_1, block({0.5f, -3.0f}, 20), QuantKind::q8).values;
  EXPECT_EQ(values[0], 0.5f * (15.0f + 16.0f) - 3.0f);
  EXPECT_EQ(values[16], 0.5f * (9.0f + 16.0f) - 3.0f);
  EXPECT_EQ(values[2], 0.5f * static_cast<float>((11 + 37 * 6) % 16) - 3.0f);
  expect_decoded(Dtype::q5_1, QuantKind::q8, random_blocks(Dtype::q5_1, 40, {0, 2}),
                 [](const Block& b, std::size_t e) {
                   return half_at(b, 0) * static_cast<float>(five_bit_level(b, 4, e)) + half_at(b, 2);
                 });
}

TEST(ConvertBlocks, Q8_0BecomesUnsigned) {
  expect_decoded(Dtype::q8_0, QuantKind::q8, random_blocks(Dtype::q8_0, 40, {0}),
                 [](const Block& b, std::size_t e) {
                   return half_at(b, 0) * static_cast<float>(static_cast<std::int8_t>(b[2 + e]));
                 });
}

TEST(ConvertBlocks, Q4_KByHand) {
  Block source(144);
  put_half(source, 0, 0.5f);
  put_half(source, 2, 0.25f);
  source[4] = 0xC1;        // scale 0 is 1; scale 4 has 3 above
  source[8] = 0x82;        // min 0 is 2; min 4 has 2 above
  source[12] = 0x25;       // low nibbles: scale 4 is 0x35, min 4 is 0x22
  source[16 + 31] = 0xD7;  // element 31 is 7, element 63 is 13
  source[16 + 64] = 0x0F;  // element 128 is 15
  const Row row = convert(Dtype::q4_k, source, QuantKind::q4_k);
  ASSERT_TRUE(row.converted);
  EXPECT_EQ(row.values[31], 0.5f * 1 * 7 - 0.25f * 2);
  EXPECT_EQ(row.values[0], -0.5f);
  EXPECT_EQ(row.values[63], 0.0f);  // scale and min 1 are 0
  EXPECT_EQ(row.values[128], 0.5f * 0x35 * 15 - 0.25f * 0x22);
}

TEST(ConvertBlocks, Q5_KByHand) {
  Block source(176);
  put_half(source, 0, 0.5f);
  source[4 + 7 - 4] = 0x40;  // scale 7 has 1 above
  source[4 + 8 + 3] = 0x02;  // scale 7 is 0x12
  source[16 + 5] = 0x80;     // element 5 of group 7 has its fifth bit
  source[48 + 96 + 5] = 0x90;
  const Row row = convert(Dtype::q5_k, source, QuantKind::q5_k);
  ASSERT_TRUE(row.converted);
  EXPECT_EQ(row.values[7 * 32 + 5], 0.5f * 0x12 * 25);
  EXPECT_EQ(row.values[7 * 32 + 6], 0.0f);
}

TEST(ConvertBlocks, Q6_KByHand) {
  Block source(210, 0);
  put_half(source, 208, -0.125f);
  source[192 + 8 + 5] = 0x80;    // sub-block 13 of 16 weights: -128
  source[64 + 20] = 0xE0;        // element 20 of group 6 has nibble 14
  source[128 + 32 + 20] = 0x30;  // and upper bits 3: 62
  const Row row = convert(Dtype::q6_k, source, QuantKind::q6_k);
  ASSERT_TRUE(row.converted);
  EXPECT_EQ(row.values[6 * 32 + 20], -0.125f * -128 * (62 - 32));
  EXPECT_EQ(row.values[6 * 32 + 21], -0.125f * -128 * (0 - 32));
  EXPECT_EQ(row.values[6 * 32 + 15], 0.0f);
}

TEST(ConvertBlocks, KKindsAgreeWithAPlainDecoder) {
  expect_decoded(Dtype::q4_k, QuantKind::q4_k, random_blocks(Dtype::q4_k, 30, {0, 2}),
                 [](const Block& b, std::size_t e) { return q4_k_or_q5_k_element(b, e, false); });
  expect_decoded(Dtype::q5_k, QuantKind::q5_k, random_blocks(Dtype::q5_k, 30, {0, 2}),
                 [](const Block& b, std::size_t e) { return q4_k_or_q5_k_element(b, e, true); });
  expect_decoded(Dtype::q6_k, QuantKind::q6_k, random_blocks(Dtype::q6_k, 30, {208}), q6_k_element);
}

TEST(ConvertBlocks, ScalesMustBeFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto converts = [](Dtype dtype, const Block& source, QuantKind kind) {
    return convert(dtype, source, kind).converted;
  };
  EXPECT_TRUE(converts(Dtype::q4_0, block({8188.0f}, 16), QuantKind::q4));
  EXPECT_FALSE(converts(Dtype::q4_0, block({8192.0f}, 16), QuantKind::q4));
  EXPECT_FALSE(converts(Dtype::q4_0, block({nan}, 16), QuantKind::q4));
  EXPECT_FALSE(converts(Dtype::q4_1, block({infinity, 0.0f}, 16), QuantKind::q4));
  EXPECT_FALSE(converts(Dtype::q4_1, block({1.0f, -infinity}, 16), QuantKind::q4));
  EXPECT_TRUE(converts(Dtype::q5_0, block({4092.0f}, 20), QuantKind::q8));
  EXPECT_FALSE(converts(Dtype::q5_0, block({4096.0f}, 20), QuantKind::q8));
  EXPECT_FALSE(converts(Dtype::q5_1, block({1.0f, nan}, 20), QuantKind::q8));
  EXPECT_TRUE(converts(Dtype::q8_0, block({511.5f}, 32), QuantKind::q8));
  EXPECT_FALSE(converts(Dtype::q8_0, block({512.0f}, 32), QuantKind::q8));
  EXPECT_FALSE(converts(Dtype::q8_0, block({infinity}, 32), QuantKind::q8));
  EXPECT_FALSE(converts(Dtype::q4_k, block({infinity, 1.0f}, 140), QuantKind::q4_k));
  EXPECT_FALSE(converts(Dtype::q4_k, block({1.0f, nan}, 140), QuantKind::q4_k));
  EXPECT_FALSE(converts(Dtype::q5_k, block({1.0f, -infinity}, 172), QuantKind::q5_k));
  Block q6_k(2 * 210);
  EXPECT_TRUE(converts(Dtype::q6_k, q6_k, QuantKind::q6_k));
  put_half(q6_k, 210 + 208, nan);
  EXPECT_FALSE(converts(Dtype::q6_k, q6_k, QuantKind::q6_k));
}

}  // namespace
}  // namespace ztvm::load
