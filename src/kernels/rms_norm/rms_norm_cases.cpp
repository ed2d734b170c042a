#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/rms_norm/rms_norm.hpp"

namespace ztvm::kernels {
namespace {

struct RmsNormCase {
  std::uint32_t dim = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Rows rows = Rows::all;
  Fill x = Fill::normal;
  float eps = 1e-5f;
};

void build(const RmsNormCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::size_t n = std::size_t{c.max_rows} * c.dim;
  rms_norm(recording, "norm",
           {.dim = c.dim,
            .eps = c.eps,
            .rows = c.rows,
            .step = builder.step({.n_rows = c.n_rows}),
            .x = builder.tensor(gpu::Dtype::f32, n, c.x),
            .weight = builder.tensor(gpu::Dtype::f32, c.dim, Fill::uniform),
            .out = builder.tensor(builder.activation(), c.rows == Rows::all ? n : c.dim, Fill::normal)});
}

KernelCase make_case(const RmsNormCase& c, std::string_view what, bool quick) {
  return {.kernel = "rms_norm",
          .name = fmt::format("{}: dim {}, {} of {} rows{}", what, c.dim, c.n_rows, c.max_rows,
                              c.rows == Rows::last ? ", last" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> rms_norm_cases() {
  std::vector<KernelCase> cases = {
      make_case({.dim = 576}, "SmolLM2", true),
      make_case({.dim = 576, .n_rows = 63, .max_rows = 64}, "SmolLM2", true),
      make_case({.dim = 576, .n_rows = 5, .max_rows = 64, .rows = Rows::last}, "SmolLM2", true),
      make_case({.dim = 3072, .n_rows = 3, .max_rows = 3}, "Phi-3", false),
      make_case({.dim = 96, .n_rows = 1, .max_rows = 1, .rows = Rows::last}, "one row", false),
      make_case({.dim = 32, .n_rows = 5, .max_rows = 5}, "short", false),
      make_case({.dim = 1, .n_rows = 3, .max_rows = 3}, "shortest", false),
      make_case({.dim = 131, .n_rows = 3, .max_rows = 3}, "odd", false),
  };
  const auto add = [&](Fill x, std::string_view what) {
    cases.push_back(make_case({.dim = 576, .n_rows = 3, .max_rows = 4, .x = x}, what, false));
  };
  add(Fill::zeros, "zeros");  // eps alone decides
  add(Fill::constant, "constant");
  add(Fill::outliers, "outliers");
  add(Fill::denormals, "denormals");
  add(Fill::alternating, "alternating");
  return cases;
}

}  // namespace ztvm::kernels
