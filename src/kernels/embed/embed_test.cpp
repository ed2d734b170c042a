#include "kernels/embed/embed.hpp"

#include <gtest/gtest.h>

#include "base/half.hpp"
#include "kernels/host_tensor.hpp"

namespace ztvm::kernels {
namespace {

TEST(Embed, OracleByHand) {
  // Rows 10 and 11 of a q8 table: row 10 holds 0, 1, 2, ... times 0.5; row 11 holds 253 times 2, less 512.
  HostTensor words(gpu::Dtype::u32, 16);
  for (std::uint32_t i = 0; i < 8; ++i) {
    words.view().set_word(i, 0x03020100u + 0x04040404u * i);
    words.view().set_word(8 + i, 0xFDFDFDFDu);
  }
  HostTensor scales = HostTensor::words(
      {float_to_half(0.5f), float_to_half(2.0f) | (std::uint32_t{float_to_half(-512.0f)} << 16)});
  HostTensor step(Step{.n_rows = 3});
  HostTensor tokens = HostTensor::words({11, 9, 10, 11});
  HostTensor out(gpu::Dtype::f32, 4 * 32);
  embed_reference(std::array{words.view(), scales.view(), step.view(), tokens.view(), out.view()},
                  QuantKind::q8, 32, 10, 2);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], -6.0f);
    EXPECT_EQ(out[32 + i], 0.0f) << "token 9 is in another part";
    EXPECT_EQ(out[64 + i], 0.5f * static_cast<float>(i));
    EXPECT_EQ(out[96 + i], 0.0f) << "row 3 is not in the pass";
  }
}

}  // namespace
}  // namespace ztvm::kernels
