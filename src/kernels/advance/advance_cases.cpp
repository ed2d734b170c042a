#include <fmt/format.h>

#include "kernels/advance/advance.hpp"
#include "kernels/cases.hpp"

namespace ztvm::kernels {
namespace {

KernelCase make_case(const Step& step, bool quick) {
  return {.kernel = "advance",
          .name = fmt::format("{} rows at {}, token number {}", step.n_rows, step.position, step.n_chosen),
          .build =
              [=](CaseBuilder& builder, gpu::Recording& recording) {
                advance(recording, {.step = builder.step(step),
                                    .tokens = builder.stale_words(64),
                                    .seen = builder.words(std::vector<std::uint32_t>(100))});
              },
          .max_rows = 64,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> advance_cases() {
  return {
      make_case({.n_rows = 17, .position = 0, .n_chosen = 0, .temperature = 0.5f, .choice = 99}, true),
      make_case({.n_rows = 1, .position = 17, .n_chosen = 1, .choice = 0}, true),
      make_case({.n_rows = 1, .position = 80, .n_chosen = k_ring_tokens - 1, .choice = 5}, false),
      make_case({.n_rows = 1, .position = 81, .n_chosen = k_ring_tokens, .choice = 6}, false),
      make_case({.n_rows = 1, .position = 2000, .n_chosen = 1919, .choice = 7}, false),
  };
}

}  // namespace ztvm::kernels
