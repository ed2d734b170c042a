#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/quantise_input/quantise_input.hpp"

namespace ztvm::kernels {
namespace {

struct QuantiseCase {
  std::uint32_t dim = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill x = Fill::normal;
  QuantisedOrder order = QuantisedOrder::by_group;
};

void build(const QuantiseCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  quantise_input(recording, "quantise",
                 {.dim = c.dim,
                  .step = builder.step({.n_rows = c.n_rows}),
                  .x = builder.tensor(builder.activation(), std::size_t{c.max_rows} * c.dim, c.x),
                  .out = builder.quantised_input(c.max_rows, c.dim),
                  .order = c.order});
}

KernelCase make_case(const QuantiseCase& c, std::string_view what, bool quick) {
  return {.kernel = "quantise_input",
          .name = fmt::format("{}: dim {}, {} of {} rows{}", what, c.dim, c.n_rows, c.max_rows,
                              c.order == QuantisedOrder::by_vector ? ", by vector" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> quantise_input_cases() {
  std::vector<KernelCase> cases = {
      make_case({.dim = 576, .n_rows = 63, .max_rows = 64}, "SmolLM2", true),
      make_case({.dim = 3072, .n_rows = 3, .max_rows = 3}, "Phi-3", false),
      make_case({.dim = 9728, .n_rows = 2, .max_rows = 4}, "Qwen3 hidden", false),
      make_case({.dim = 32, .n_rows = 1, .max_rows = 2}, "smallest", true),
      make_case({.dim = 2080, .n_rows = 5, .max_rows = 5}, "a group beyond a workgroup", false),
  };
  for (const auto& [dim, what] : {std::pair{96u, "few rows"}, std::pair{2080u, "few long rows"}}) {
    cases.push_back(make_case({.dim = dim, .n_rows = 5, .max_rows = 16, .order = QuantisedOrder::by_vector},
                              what, dim == 96));
  }
  const auto add = [&](Fill x, std::string_view what) {
    cases.push_back(make_case({.dim = 288, .n_rows = 3, .max_rows = 4, .x = x}, what, x == Fill::outliers));
  };
  add(Fill::zeros, "zeros");
  add(Fill::constant, "constant");
  add(Fill::integers, "integers");  // powers of two are the first of a step
  add(Fill::outliers, "outliers");
  add(Fill::denormals, "denormals");
  add(Fill::alternating, "alternating");
  add(Fill::not_finite, "not finite");
  cases.push_back(make_case(
      {.dim = 288, .n_rows = 3, .max_rows = 4, .x = Fill::not_finite, .order = QuantisedOrder::by_vector},
      "not finite", false));
  return cases;
}

}  // namespace ztvm::kernels
