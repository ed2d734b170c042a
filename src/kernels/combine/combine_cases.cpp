#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/combine/combine.hpp"

namespace ztvm::kernels {
namespace {

struct CombineCase {
  std::uint32_t dim = 0;
  std::uint32_t top_k = 0;
  std::uint32_t n_experts = 0;  // columns of the logits before the gate's; 0: no shared expert
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill values = Fill::normal;
  float gate_scale = 1.0f;
};

void build(const CombineCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::size_t n = std::size_t{c.max_rows} * c.dim;
  Combine args = {
      .dim = c.dim,
      .top_k = c.top_k,
      .step = builder.step({.n_rows = c.n_rows}),
      .weights = builder.tensor(gpu::Dtype::f32, std::size_t{c.max_rows} * c.top_k, Fill::uniform),
      .down = builder.tensor(gpu::Dtype::f32, n * c.top_k, c.values),
      .shared = std::nullopt,
      .x = builder.tensor(gpu::Dtype::f32, n, c.values)};
  if (c.n_experts > 0) {
    const std::uint32_t stride = c.n_experts + 1;
    std::vector<float> logits = make_values(Fill::normal, std::size_t{c.max_rows} * stride, builder.random());
    for (float& logit : logits) logit *= c.gate_scale;
    args.shared = SharedExpert{.logits = builder.tensor(gpu::Dtype::f32, logits),
                               .stride = stride,
                               .gate_column = c.n_experts,
                               .shared = builder.tensor(gpu::Dtype::f32, n, c.values)};
  }
  combine(recording, "combine", args);
}

KernelCase make_case(const CombineCase& c, std::string_view what, bool quick) {
  return {.kernel = "combine",
          .name = fmt::format("{}: dim {}, {} experts{}, {} of {} rows", what, c.dim, c.top_k,
                              c.n_experts > 0 ? " and the shared one" : "", c.n_rows, c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> combine_cases() {
  std::vector<KernelCase> cases = {
      make_case({.dim = 2048, .top_k = 8, .n_experts = 256}, "Qwen3.6", true),
      make_case({.dim = 2048, .top_k = 8, .n_experts = 256, .n_rows = 15, .max_rows = 16}, "Qwen3.6", false),
      make_case({.dim = 96, .top_k = 3, .n_experts = 5, .n_rows = 3, .max_rows = 4}, "odd", true),
      make_case({.dim = 96, .top_k = 3, .n_rows = 3, .max_rows = 4}, "odd", true),
      make_case({.dim = 4, .top_k = 1, .n_experts = 1}, "smallest", false),
      make_case({.dim = 260, .top_k = 16, .n_experts = 16, .n_rows = 5, .max_rows = 5}, "all", false),
      make_case({.dim = 96, .top_k = 3, .n_experts = 5, .n_rows = 4, .max_rows = 4, .gate_scale = 30.0f},
                "closed and open gates", false),
      make_case({.dim = 96, .top_k = 3, .n_experts = 5, .n_rows = 4, .max_rows = 4, .gate_scale = 1e4f},
                "gates whose exp overflows", false),
  };
  const auto add = [&](Fill values, std::string_view what) {
    cases.push_back(make_case(
        {.dim = 96, .top_k = 3, .n_experts = 5, .n_rows = 4, .max_rows = 4, .values = values}, what, false));
  };
  add(Fill::zeros, "zeros");
  add(Fill::outliers, "outliers");
  add(Fill::denormals, "denormals");
  add(Fill::alternating, "alternating");
  return cases;
}

}  // namespace ztvm::kernels
