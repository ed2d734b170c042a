#include "load/transform.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/half.hpp"

namespace ztvm::load {
namespace {

std::vector<std::byte> block(std::initializer_list<float> halves, std::size_t n_quants) {
  std::vector<std::byte> bytes;
  for (const float value : halves) {
    const std::uint16_t half = float_to_half(value);
    bytes.push_back(static_cast<std::byte>(half & 255));
    bytes.push_back(static_cast<std::byte>(half >> 8));
  }
  for (std::size_t i = 0; i < n_quants; ++i) bytes.push_back(static_cast<std::byte>(i * 37 + 11));
  return bytes;
}

// One converted and dequantised row.
std::vector<float> values_of(Dtype dtype, Bytes source, std::uint32_t dim, QuantKind kind) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  std::vector<std::byte> words(layout.words_bytes_per_row());
  std::vector<std::byte> scales(layout.scales_bytes_per_row());
  EXPECT_TRUE(convert_row({.dtype = dtype, .words = source}, kind, words, scales));
  std::vector<float> values(dim);
  dequantise_row(kind, words, scales, values);
  return values;
}

TEST(Transform, Q4_0IsSymmetricAround8) {
  const std::vector<std::byte> source = block({-0.37f}, 16);
  const float d = round_to_half(-0.37f);
  const std::vector<float> values = values_of(Dtype::q4_0, source, 32, QuantKind::q4);
  for (std::size_t i = 0; i < 16; ++i) {
    const int pair = static_cast<int>(source[2 + i]);
    EXPECT_EQ(values[i], d * static_cast<float>((pair & 15) - 8));
    EXPECT_EQ(values[16 + i], d * static_cast<float>((pair >> 4) - 8));
  }
}

TEST(Transform, Q4_0SubnormalScaleIsExact) {
  const std::vector<std::byte> source = block({0x3p-24f}, 16);
  const std::vector<float> values = values_of(Dtype::q4_0, source, 32, QuantKind::q4);
  EXPECT_EQ(values[0], 0x3p-24f * static_cast<float>((static_cast<int>(source[2]) & 15) - 8));
}

TEST(Transform, Q4_1AndQ8_0AreKept) {
  const std::vector<std::byte> q4 = block({0.5f, -3.0f}, 16);
  const std::vector<float> affine = values_of(Dtype::q4_1, q4, 32, QuantKind::q4);
  EXPECT_EQ(affine[0], 0.5f * 11.0f - 3.0f);
  EXPECT_EQ(affine[17], 0.5f * 3.0f - 3.0f);  // the second byte is 48
  const std::vector<std::byte> q8 = block({0.25f}, 32);
  const std::vector<float> bytes = values_of(Dtype::q8_0, q8, 32, QuantKind::q8);
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_EQ(bytes[i], 0.25f * static_cast<float>(static_cast<std::int8_t>(q8[2 + i])));
}

TEST(Transform, HalfVectorsBecomeFloats) {
  const std::vector<std::byte> source = block({1.5f, -2.0f, 0x1p-24f}, 0);
  EXPECT_EQ(values_of(Dtype::f16, source, 3, QuantKind::f32), (std::vector<float>{1.5f, -2.0f, 0x1p-24f}));
}

TEST(Transform, ScalesMustBeFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto converts = [](Dtype dtype, const std::vector<std::byte>& source) {
    std::vector<std::byte> words(32);
    std::vector<std::byte> scales(4);
    return convert_row({.dtype = dtype, .words = source},
                       dtype == Dtype::q8_0 ? QuantKind::q8 : QuantKind::q4, words, scales);
  };
  EXPECT_TRUE(converts(Dtype::q4_0, block({8188.0f}, 16)));
  EXPECT_FALSE(converts(Dtype::q4_0, block({8192.0f}, 16)));
  EXPECT_FALSE(converts(Dtype::q4_0, block({std::numeric_limits<float>::quiet_NaN()}, 16)));
  EXPECT_FALSE(converts(Dtype::q4_1, block({infinity, 0.0f}, 16)));
  EXPECT_FALSE(converts(Dtype::q4_1, block({1.0f, -infinity}, 16)));
  EXPECT_FALSE(converts(Dtype::q8_0, block({infinity}, 32)));
}

TEST(Transform, LayoutOfTensors) {
  const auto layout = [](Dtype dtype, std::vector<std::uint64_t> shape) {
    TensorRecord tensor;
    tensor.name = "t";
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    return kernel_layout(tensor, "x.gguf");
  };
  EXPECT_EQ(layout(Dtype::q4_0, {2, 64}).value(), (QuantLayout{QuantKind::q4, 64}));
  EXPECT_EQ(layout(Dtype::q4_1, {2, 64}).value(), (QuantLayout{QuantKind::q4, 64}));
  EXPECT_EQ(layout(Dtype::q8_0, {2, 64}).value(), (QuantLayout{QuantKind::q8, 64}));
  EXPECT_EQ(layout(Dtype::f16, {2, 64}).value(), (QuantLayout{QuantKind::f16, 64}));
  EXPECT_EQ(layout(Dtype::f16, {7}).value(), (QuantLayout{QuantKind::f32, 7}));
  EXPECT_EQ(layout(Dtype::f16, {2, 48}).error().text,
            "Tensor \"t\" of type F16 has shape [2, 48], supported are rows of a multiple of 32 elements, in "
            "x.gguf.");
  EXPECT_EQ(layout(Dtype::q8_0, {64}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::f32, {2, 2, 2, 32}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::f32, {1, 1ull << 33}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::q8_0, {1ull << 33, 32}).error().code, ErrorCode::unsupported);
}

TEST(Transform, UnpermutedRowsPairUpHalves) {
  const std::uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (std::uint32_t row = 0; row < 8; ++row) EXPECT_EQ(unpermuted_row(row, 8), expected[row]);
}

}  // namespace
}  // namespace ztvm::load
