#include <fmt/format.h>

#include <limits>

#include "kernels/argmax/argmax.hpp"
#include "kernels/cases.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

// A logit that is set after the fill.
struct Spike {
  std::uint32_t index = 0;
  float value = 0.0f;
};

KernelCase make_case(std::string_view what, std::uint32_t n_valid, std::uint32_t n_padded, Fill fill,
                     std::vector<Spike> spikes, bool quick = false) {
  return {.kernel = "argmax",
          .name = fmt::format("{}: {} of {} logits", what, n_valid, n_padded),
          .build =
              [=](CaseBuilder& builder, gpu::Recording& recording) {
                std::vector<float> logits = make_values(fill, n_padded, builder.random());
                for (const Spike& spike : spikes) logits[spike.index] = spike.value;
                argmax(recording, {.n_valid = n_valid,
                                   .logits = builder.tensor(gpu::Dtype::f32, logits),
                                   .candidates = builder.stale_words(4 * div_up(n_valid, k_argmax_block)),
                                   .step = builder.step({.n_rows = 1, .n_not_finite = 3})});
              },
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> argmax_cases() {
  const std::vector<Spike> all_infinite = {{0, -k_infinity}, {1, -k_infinity}, {2, -k_infinity}};
  return {
      make_case("SmolLM2", 49152, 49152, Fill::normal, {}, true),
      make_case("padded", 1000, 1024, Fill::normal, {{1010, 1e9f}}, true),
      make_case("not finite", 1000, 1000, Fill::normal,
                {{0, k_nan}, {7, k_infinity}, {8, -k_infinity}, {600, -k_nan}, {999, 50.0f}}, true),
      make_case("largest vocabulary", 248'320, 248'320, Fill::normal, {{248'319, 9.0f}}),
      make_case("one", 1, 1, Fill::normal, {}),
      make_case("short of a block", 255, 255, Fill::normal, {{254, 9.0f}}),
      make_case("a block", 256, 256, Fill::normal, {{0, 9.0f}}),
      make_case("over a block", 257, 257, Fill::normal, {{256, 9.0f}}),
      make_case("ties in a block", 600, 600, Fill::normal, {{40, 9.0f}, {41, 9.0f}, {30, 9.0f}}),
      make_case("ties of blocks", 600, 600, Fill::normal, {{599, 9.0f}, {300, 9.0f}}),
      make_case("equal", 600, 600, Fill::constant, {}),
      make_case("zeros of both signs", 600, 600, Fill::zeros, {{0, -0.0f}, {5, 0.0f}}),
      make_case("negative", 3, 600, Fill::normal, {{0, -5.0f}, {1, -2.0f}, {2, -3.0f}}),
      make_case("extremes", 600, 600, Fill::normal, {{3, 3.4e38f}, {4, 3.3e38f}, {5, -3.4e38f}}),
      make_case("nothing finite", 3, 600, Fill::normal, all_infinite),
  };
}

}  // namespace ztvm::kernels
