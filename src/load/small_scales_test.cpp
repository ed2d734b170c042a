// Which scales of affine matrices are too small for f16, and which of those do no harm.
#include "load/small_scales.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "base/bfloat.hpp"

namespace ztvm::load {
namespace {

// Two rows of 128 weights in groups of 64: four scales, four biases.
std::string problem(std::uint32_t bits, Dtype dtype, const std::vector<float>& scales,
                    const std::vector<float>& biases) {
  const auto stored = [&](const std::vector<float>& numbers) {
    std::string bytes;
    for (const float number : numbers) {
      const std::uint32_t word =
          dtype == Dtype::f32 ? std::bit_cast<std::uint32_t>(number) : std::uint32_t{float_to_bfloat(number)};
      bytes.append(reinterpret_cast<const char*>(&word), dtype == Dtype::f32 ? 4 : 2);
    }
    return bytes;
  };
  const std::string words(2 * 128 / 8 * bits, '\x33');
  const std::string parts[] = {stored(scales), stored(biases)};
  const Bytes sources[] = {as_bytes(words), as_bytes(parts[0]), as_bytes(parts[1])};
  const UploadStep step = {.tensor = "lm_head.weight",
                           .sources = {{.file = 0, .range = {}, .dtype = Dtype::affine},
                                       {.file = 0, .range = {}, .dtype = dtype},
                                       {.file = 1, .range = {}, .dtype = dtype}},
                           .dtype = Dtype::affine,
                           .bits = bits,
                           .group = 64,
                           .layout = {},
                           .first_row = 7,
                           .n_rows = 2};
  const CheckpointFile files[] = {{.name = "a.safetensors"}, {.name = "b.safetensors"}};
  return small_scale_problem(step, sources, files).value_or("");
}

TEST(SmallScales, AMatrixOfSmallWeightsIsRefused) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f32}) {
    EXPECT_NE(problem(4, dtype, {1e-9f, 1e-9f, 1e-9f, 1e-9f}, {0, 0, 1e-9f, 0}), "");
    EXPECT_NE(problem(8, dtype, {3e-6f, 3.1e-6f, 3.3e-6f, 3.7e-6f}, {0, 0, 0, 0}), "");
    EXPECT_EQ(problem(8, dtype, {3e-4f, 3.1e-4f, 3.3e-4f, 3.7e-4f}, {-0.02f, 0, 0, 0}), "");
  }
  EXPECT_EQ(problem(4, Dtype::f32, {0x1p-20f, 0x1p-20f, 1e-6f, 0x1p-20f}, {0, 0, 0, 0}),
            "Tensor \"lm_head.scales\" in a.safetensors has the scale 1e-06 in row 8, which is too small for "
            "f16, expected 6.1035156e-05 or more.");
  EXPECT_EQ(problem(4, Dtype::f32, {0x1p-24f, 0x1p-24f, 0x1p-24f, 0x1p-24f}, {0, 1e-6f, 0, 0}),
            "Tensor \"lm_head.biases\" in b.safetensors has the bias 1e-06 in row 7, which is too small for "
            "f16, expected 6.1035156e-05 or more.");
}

TEST(SmallScales, BesideUsualWeightsTheyDoNoHarm) {
  EXPECT_EQ(problem(4, Dtype::bf16, {0.01f, 3e-8f, 1e-12f, 0.01f}, {-0.08f, 1e-9f, 1e-12f, 0}), "");
}

TEST(SmallScales, MlxWritesOneForZeros) {
  EXPECT_EQ(problem(8, Dtype::bf16, {-1e-7f, 1e-7f, -1e-7f, -1e-7f}, {0, 0, 0, 0}), "");
}

TEST(SmallScales, WhatHalvesHoldExactlyStays) {
  EXPECT_EQ(problem(4, Dtype::bf16, {0x1p-24f, 0x1.8p-20f, 0x1p-14f, 0}, {0, 0x1p-24f, 0, 0}), "");
}

}  // namespace
}  // namespace ztvm::load
