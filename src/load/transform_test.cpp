#include "load/transform.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/half.hpp"

namespace ztvm::load {
namespace {

std::vector<float> values_of(Dtype dtype, Bytes source, std::uint32_t dim, QuantKind kind) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  std::vector<std::byte> words(layout.words_bytes_per_row());
  EXPECT_TRUE(convert_row(dtype, kind, source, words, {}));
  std::vector<float> values(dim);
  dequantise_row(kind, words, {}, values);
  return values;
}

TEST(Transform, NumbersStayOrWiden) {
  const std::uint16_t halves[] = {float_to_half(1.5f), float_to_half(-2.0f), float_to_half(0x1p-24f)};
  const std::vector<float> half_values = {1.5f, -2.0f, 0x1p-24f};
  EXPECT_EQ(values_of(Dtype::f16, as_bytes(halves), 3, QuantKind::f32), half_values);
  EXPECT_EQ(values_of(Dtype::f16, as_bytes(halves), 3, QuantKind::f16), half_values);
  const std::uint16_t bfloats[] = {0x3FC0, 0xC000, 0x7F7F, 0x0001, 0x8000};
  const std::vector<float> bfloat_values = {1.5f, -2.0f, 0x1.FEp127f, 0x1p-133f, -0.0f};
  EXPECT_EQ(values_of(Dtype::bf16, as_bytes(bfloats), 5, QuantKind::f32), bfloat_values);
  EXPECT_EQ(values_of(Dtype::bf16, as_bytes(bfloats), 5, QuantKind::bf16), bfloat_values);
  const std::vector<float> floats = {1.0f, -1e-40f, 3e38f};
  EXPECT_EQ(values_of(Dtype::f32, as_bytes(floats), 3, QuantKind::f32), floats);
}

TensorRecord tensor_of(Dtype dtype, std::vector<std::uint64_t> shape) {
  TensorRecord tensor;
  tensor.name = "t";
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  return tensor;
}

TEST(Transform, LayoutOfTensors) {
  const auto layout = [](Dtype dtype, std::vector<std::uint64_t> shape) {
    return kernel_layout(tensor_of(dtype, std::move(shape)), "x.gguf");
  };
  EXPECT_EQ(layout(Dtype::q4_0, {2, 64}).value(), (QuantLayout{QuantKind::q4, 64}));
  EXPECT_EQ(layout(Dtype::q4_1, {2, 64}).value(), (QuantLayout{QuantKind::q4, 64}));
  EXPECT_EQ(layout(Dtype::q8_0, {2, 64}).value(), (QuantLayout{QuantKind::q8, 64}));
  EXPECT_EQ(layout(Dtype::f16, {2, 64}).value(), (QuantLayout{QuantKind::f16, 64}));
  EXPECT_EQ(layout(Dtype::bf16, {2, 64}).value(), (QuantLayout{QuantKind::bf16, 64}));
  EXPECT_EQ(layout(Dtype::q4_k, {2, 768}).value(), (QuantLayout{QuantKind::q4_k, 768}));
  EXPECT_EQ(layout(Dtype::q5_k, {2, 256}).value(), (QuantLayout{QuantKind::q5_k, 256}));
  EXPECT_EQ(layout(Dtype::q6_k, {2, 256}).value(), (QuantLayout{QuantKind::q6_k, 256}));
  EXPECT_EQ(layout(Dtype::mlc_q4, {2, 96}).value(), (QuantLayout{QuantKind::q4, 96}));
  EXPECT_EQ(layout(Dtype::f32, {5, 2, 32}).value(), (QuantLayout{QuantKind::f32, 32}));
  EXPECT_EQ(layout(Dtype::f16, {7}).value(), (QuantLayout{QuantKind::f32, 7}));
  EXPECT_EQ(layout(Dtype::bf16, {7}).value(), (QuantLayout{QuantKind::f32, 7}));
  EXPECT_EQ(layout(Dtype::f16, {2, 48}).error().text,
            "Tensor \"t\" of type F16 has shape [2, 48], supported are rows of a multiple of 32 elements, in "
            "x.gguf.");
  EXPECT_EQ(layout(Dtype::q8_0, {64}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(
      layout(Dtype::q4_k, {2, 288}).error().text,
      "Tensor \"t\" of type Q4_K has shape [2, 288], supported are rows of a multiple of 256 elements, in "
      "x.gguf.");
  EXPECT_EQ(layout(Dtype::f32, {2, 2, 2, 32}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::q8_0, {1ull << 20, 1ull << 20, 32}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::f32, {1, 1ull << 33}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(layout(Dtype::q8_0, {1ull << 33, 32}).error().code, ErrorCode::unsupported);
}

TEST(Transform, LayoutOfAffineTensors) {
  const auto layout = [](std::uint32_t bits, std::uint32_t group, std::vector<std::uint64_t> shape) {
    TensorRecord tensor = tensor_of(Dtype::affine, std::move(shape));
    tensor.bits = bits;
    tensor.group = group;
    return kernel_layout(tensor, "x.safetensors");
  };
  EXPECT_EQ(layout(3, 64, {8, 16, 128}).value(), (QuantLayout{QuantKind::q3, 128}));
  EXPECT_EQ(layout(4, 32, {2, 96}).value(), (QuantLayout{QuantKind::q4, 96}));
  EXPECT_EQ(layout(8, 128, {1, 128}).value(), (QuantLayout{QuantKind::q8, 128}));
  EXPECT_EQ(
      layout(6, 64, {2, 64}).error().text,
      "Tensor \"t\" has 6 bits in groups of 64, supported are 3, 4 and 8 bits in groups of 32, 64 and 128, "
      "in x.safetensors.");
  EXPECT_EQ(layout(4, 0, {2, 64}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(
      layout(4, 64, {2, 96}).error().text,
      "Tensor \"t\" of type affine has shape [2, 96], supported are rows of a multiple of 64 elements, in "
      "x.safetensors.");
  EXPECT_EQ(layout(4, 64, {64}).error().code, ErrorCode::unsupported);
}

TEST(Transform, UnpermutedRowsPairUpHalves) {
  const std::uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (std::uint32_t row = 0; row < 8; ++row) EXPECT_EQ(unpermuted_row(row, 8), expected[row]);
}

// Each kind of plain number, as a matrix and, of 16 bits, as a vector of f32.
TEST(ConvertRow, APlainValueThatIsNotFiniteIsRefused) {
  struct Case {
    Dtype dtype;
    QuantKind kind;
    std::size_t number_bytes;
    std::uint32_t largest, infinite, not_a_number;
  };
  const Case k_cases[] = {
      {Dtype::f32, QuantKind::f32, 4, 0xFF7FFFFFu, 0xFF800000u, 0x7FC00000u},
      {Dtype::f16, QuantKind::f16, 2, 0x7BFFu, 0x7C00u, 0xFE00u},
      {Dtype::f16, QuantKind::f32, 2, 0x7BFFu, 0x7C00u, 0xFE00u},
      {Dtype::bf16, QuantKind::bf16, 2, 0xFF7Fu, 0xFF80u, 0x7FC0u},
      {Dtype::bf16, QuantKind::f32, 2, 0xFF7Fu, 0xFF80u, 0x7FC0u},
  };
  for (const Case& c : k_cases) {
    constexpr std::size_t k_dim = 96;
    std::vector<std::byte> source(k_dim * c.number_bytes);
    std::vector<std::byte> words(k_dim * (c.kind == QuantKind::f32 ? 4 : 2));
    const auto converts = [&](std::uint32_t bits, std::size_t at) {
      std::memset(source.data(), 0, source.size());
      std::memcpy(source.data() + at * c.number_bytes, &bits, c.number_bytes);
      return convert_row(c.dtype, c.kind, source, words, {});
    };
    for (const std::size_t at : {0, 50, 95}) {
      EXPECT_TRUE(converts(c.largest, at)) << at;
      EXPECT_FALSE(converts(c.infinite, at)) << at;
      EXPECT_FALSE(converts(c.not_a_number, at)) << at;
    }
  }
}

}  // namespace
}  // namespace ztvm::load
