#include "kernels/quantise_input/quantise_input.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/case_values.hpp"
#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

constexpr std::uint32_t k_dim = 64;

struct Quantised {
  explicit Quantised(std::uint32_t n_planes)
      : planes(n_planes),
        bytes(gpu::Dtype::u32, static_cast<std::size_t>(quantised_words(1, k_dim, n_planes))),
        scales(gpu::Dtype::f32, static_cast<std::size_t>(quantised_scales(1, k_dim))) {}
  std::vector<float> numbers() {
    std::vector<float> out(k_dim);
    load_quantised_row(bytes.view(), scales.view(), planes, QuantisedOrder::by_group, 0, out);
    return out;
  }
  std::uint32_t planes;
  HostTensor bytes;
  HostTensor scales;
};

Quantised quantised(std::span<const float> x, std::uint32_t planes) {
  Quantised out(planes);
  HostTensor step(Step{.n_rows = 1});
  HostTensor input(gpu::Dtype::f32, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) input.view().store(i, x[i]);
  quantise_input_reference(std::array{step.view(), input.view(), out.bytes.view(), out.scales.view()}, k_dim,
                           planes, QuantisedOrder::by_group);
  return out;
}

TEST(QuantiseInput, OracleByHand) {
  // The largest of the first group is 1, in the step up to 9/8: v = round(x * 32512 * 8 / 9).
  std::vector<float> x(k_dim, 0.0f);
  x[0] = 1.0f;
  x[5] = -0.5f;
  Quantised out = quantised(x, 2);
  // 28899.6 -> 28900 = 113 * 256 - 28; -14449.8 -> -14450 = -56 * 256 - 114.
  EXPECT_EQ(out.bytes.word(0), 113u);
  EXPECT_EQ(out.bytes.word(8), std::uint32_t{0x100 - 28});
  EXPECT_EQ(out.bytes.word(1), std::uint32_t{0x100 - 56} << 8);
  EXPECT_EQ(out.bytes.word(9), std::uint32_t{0x100 - 114} << 8);
  EXPECT_FLOAT_EQ(out.scales[0], 9.0f / 8.0f / 32512.0f);
  EXPECT_FLOAT_EQ(out.scales[1], 9.0f / 8.0f / 32512.0f * 14450.0f);
  EXPECT_EQ(out.scales[2], 0.0f);  // the second group is zero
}

TEST(QuantiseInput, NumbersAreWithinHalfAStep) {
  Random random(7);
  for (const Fill fill : {Fill::normal, Fill::outliers, Fill::alternating, Fill::constant}) {
    const std::vector<float> x = make_values(fill, k_dim, random);
    for (const std::uint32_t planes : {1u, 2u}) {
      Quantised out = quantised(x, planes);
      const std::vector<float> got = out.numbers();
      for (std::size_t group = 0; group < k_dim / 32; ++group) {
        float top = 0.0f;
        for (std::size_t i = 0; i < 32; ++i) top = std::max(top, std::abs(x[32 * group + i]));
        const float half_step = top * 1.125f / (planes == 2 ? 32512.0f : 127.0f) / 2.0f;
        for (std::size_t i = 32 * group; i < 32 * (group + 1); ++i)
          EXPECT_NEAR(got[i], x[i], half_step * 1.001f) << "plane " << planes << " element " << i;
      }
    }
  }
}

TEST(QuantiseInput, WhatIsNotFiniteStaysSo) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> x(k_dim, 1.0f);
    x[40] = odd;
    const std::vector<float> got = quantised(x, 2).numbers();
    EXPECT_NEAR(got[0], 1.0f, 1e-4f);
    EXPECT_TRUE(std::isnan(got[40]));
  }
}

}  // namespace
}  // namespace ztvm::kernels
