#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/gated_norm/gated_norm.hpp"

namespace ztvm::kernels {
namespace {

struct GatedNormCase {
  std::uint32_t n_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t n_before = 0;  // columns of x before z
  std::uint32_t n_after = 0;   // and after it
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill o = Fill::normal;
  Fill z = Fill::normal;
};

void build(const GatedNormCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::uint32_t dim = c.n_heads * c.head_dim;
  const std::uint32_t x_stride = c.n_before + dim + c.n_after;
  const std::size_t n = std::size_t{c.max_rows} * dim;
  gated_norm(recording, "norm",
             {.n_heads = c.n_heads,
              .head_dim = c.head_dim,
              .x_stride = x_stride,
              .first = c.n_before,
              .eps = 1e-6f,
              .step = builder.step({.n_rows = c.n_rows}),
              .o = builder.tensor(gpu::Dtype::f32, n, c.o),
              .x = builder.tensor(builder.activation(), std::size_t{c.max_rows} * x_stride, c.z),
              .weight = builder.tensor(gpu::Dtype::f32, c.head_dim, Fill::uniform),
              .out = builder.tensor(builder.activation(), n, Fill::normal)});
}

KernelCase make_case(const GatedNormCase& c, std::string_view what, bool quick) {
  return {.kernel = "gated_norm",
          .name = fmt::format("{}: {} heads of {}, {} of {} rows", what, c.n_heads, c.head_dim, c.n_rows,
                              c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> gated_norm_cases() {
  std::vector<KernelCase> cases = {
      make_case({32, 128, 8192, 64, 1, 1}, "Qwen3.5", true),
      make_case({32, 128, 8192, 64, 5, 64}, "Qwen3.5", true),
      make_case({3, 24, 7, 5, 3, 3}, "small heads", false),
      make_case({5, 16, 0, 1, 3, 4}, "odd heads", false),
      make_case({1, 1, 0, 0, 2, 2}, "smallest heads", false),
      make_case({2, 300, 11, 0, 2, 2}, "wide heads", false),
  };
  const auto add = [&](Fill o, Fill z, std::string_view what) {
    cases.push_back(make_case({6, 64, 31, 17, 3, 4, o, z}, what, false));
  };
  add(Fill::zeros, Fill::normal, "zeros");  // eps alone decides
  add(Fill::outliers, Fill::normal, "outliers in o");
  add(Fill::denormals, Fill::normal, "denormals in o");
  add(Fill::normal, Fill::outliers, "outliers in z");
  add(Fill::normal, Fill::zeros, "closed gates");
  add(Fill::normal, Fill::denormals, "denormals in z");
  return cases;
}

}  // namespace ztvm::kernels
