#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/penalise/penalise.hpp"

namespace ztvm::kernels {
namespace {

KernelCase make_case(std::uint32_t n_valid, std::uint32_t n_padded, float penalty, Fill logits, bool quick) {
  return {.kernel = "penalise",
          .name = fmt::format("{} of {} logits, penalty {}, fill {}", n_valid, n_padded, penalty,
                              static_cast<int>(logits)),
          .build =
              [=](CaseBuilder& builder, gpu::Recording& recording) {
                std::vector<std::uint32_t> seen(n_padded);
                for (std::uint32_t& s : seen) s = builder.random().below(2);
                penalise(recording, {.n_valid = n_valid,
                                     .step = builder.step({.n_rows = 1, .repeat_penalty = penalty}),
                                     .seen = builder.words(seen),
                                     .logits = builder.tensor(gpu::Dtype::f32, n_padded, logits)});
              },
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> penalise_cases() {
  return {
      make_case(49152, 49152, 1.3f, Fill::normal, true), make_case(63, 100, 0.5f, Fill::normal, true),
      make_case(1, 1, 10.0f, Fill::constant, false),     make_case(65, 65, 1.1f, Fill::zeros, false),
      make_case(500, 512, 1.1f, Fill::outliers, false),  make_case(500, 512, 1.0f, Fill::normal, false),
  };
}

}  // namespace ztvm::kernels
