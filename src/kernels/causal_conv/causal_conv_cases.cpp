#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/causal_conv/causal_conv.hpp"

namespace ztvm::kernels {
namespace {

struct CausalConvCase {
  std::uint32_t channels = 0;
  std::uint32_t width = 4;
  std::uint32_t n_before = 0;  // columns of x before the channels
  std::uint32_t n_after = 0;   // and after them
  std::uint32_t position = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill x = Fill::normal;
  Fill weight = Fill::uniform;
};

void build(const CausalConvCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::uint32_t x_stride = c.n_before + c.channels + c.n_after;
  const std::size_t n_state = std::size_t{c.width - 1} * c.channels;
  // At position 0 what is in the state may be anything.
  gpu::Tensor state = c.position == 0 ? builder.stale_words(n_state) : gpu::Tensor{};
  if (c.position != 0) state = builder.tensor(gpu::Dtype::f32, n_state, c.x);
  state.dtype = gpu::Dtype::f32;
  causal_conv(
      recording, "conv",
      {.channels = c.channels,
       .width = c.width,
       .x_stride = x_stride,
       .first = c.n_before,
       .step = builder.step({.n_rows = c.n_rows, .position = c.position}),
       .x = builder.tensor(builder.activation(), std::size_t{c.max_rows} * x_stride, c.x),
       .weight = builder.tensor(gpu::Dtype::f32, std::size_t{c.channels} * c.width, c.weight),
       .state = state,
       .out = builder.tensor(builder.activation(), std::size_t{c.max_rows} * c.channels, Fill::normal)});
}

KernelCase make_case(const CausalConvCase& c, std::string_view what, bool quick) {
  return {.kernel = "causal_conv",
          .name = fmt::format("{}: {} channels, {} taps, position {}, {} of {} rows", what, c.channels,
                              c.width, c.position, c.n_rows, c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> causal_conv_cases() {
  // Qwen3.5-4B and Qwen3.6: 2 x 16 key heads and 32 value heads of 128, then z, b and a.
  const auto qwen = [](std::uint32_t position, std::uint32_t n_rows, std::uint32_t max_rows) {
    return CausalConvCase{8192, 4, 0, 4096 + 64, position, n_rows, max_rows};
  };
  std::vector<KernelCase> cases = {
      make_case(qwen(0, 1, 1), "Qwen3.5", true),
      make_case(qwen(7, 1, 1), "Qwen3.5", true),
      make_case(qwen(0, 20, 64), "Qwen3.5", false),
      make_case({1, 4, 0, 0, 3, 2, 2}, "one channel", false),
      make_case({131, 3, 5, 7, 9, 3, 3}, "odd", false),
  };
  // Fewer rows than taps, borders of a tile of 16, tails; the first pass and a later one.
  for (const std::uint32_t position : {0u, 5u}) {
    for (const std::uint32_t n_rows : {1u, 2u, 3u, 4u, 15u, 16u, 17u, 33u}) {
      cases.push_back(make_case({40, 4, 3, 10, position, n_rows, 64}, "rows", n_rows == 17));
    }
    for (const std::uint32_t width : {2u, 5u, 8u}) {
      cases.push_back(make_case({24, width, 0, 8, position, 3, 4}, "widths", false));
      cases.push_back(make_case({24, width, 0, 8, position, 20, 20}, "widths", false));
    }
  }
  for (const Fill fill : {Fill::zeros, Fill::constant, Fill::outliers, Fill::denormals, Fill::integers}) {
    cases.push_back(make_case({96, 4, 16, 16, 5, 5, 5, fill, Fill::uniform},
                              fmt::format("hard values {}", static_cast<int>(fill)), false));
  }
  cases.push_back(
      make_case({96, 4, 16, 16, 5, 5, 5, Fill::constant, Fill::alternating}, "cancelling", false));
  return cases;
}

}  // namespace ztvm::kernels
