#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/sigmoid_gate/sigmoid_gate.hpp"

namespace ztvm::kernels {
namespace {

struct SigmoidGateCase {
  SigmoidGateShape shape;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill gate = Fill::normal;
};

void build(const SigmoidGateCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const gpu::Dtype activation = builder.activation();
  sigmoid_gate(recording, "gate",
               {.dim = c.shape.dim,
                .x_stride = c.shape.x_stride,
                .first = c.shape.first,
                .step = builder.step({.n_rows = c.n_rows}),
                .x = builder.tensor(activation, std::size_t{c.max_rows} * c.shape.x_stride, c.gate),
                .mixed = builder.tensor(activation, std::size_t{c.max_rows} * c.shape.dim, Fill::normal)});
}

KernelCase make_case(const SigmoidGateCase& c, std::string_view what, bool quick) {
  return {.kernel = "sigmoid_gate",
          .name = fmt::format("{}: columns {} to {} of {}, {} of {} rows", what, c.shape.first,
                              c.shape.first + c.shape.dim, c.shape.x_stride, c.n_rows, c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> sigmoid_gate_cases() {
  std::vector<KernelCase> cases = {
      make_case({{.dim = 4096, .x_stride = 10240, .first = 6144}}, "Qwen3.5", true),
      make_case({{.dim = 4096, .x_stride = 9216, .first = 5120}, 5, 64}, "Qwen3.6", true),
      make_case({{.dim = 131, .x_stride = 150, .first = 19}, 3, 3}, "odd", false),
      make_case({{.dim = 1, .x_stride = 1, .first = 0}, 2, 2}, "shortest", false),
  };
  // Outliers and their opposites reach both ends of the sigmoid.
  for (const Fill fill : {Fill::zeros, Fill::outliers, Fill::denormals, Fill::integers}) {
    cases.push_back(make_case({{.dim = 96, .x_stride = 200, .first = 100}, 3, 4, fill},
                              fmt::format("hard values {}", static_cast<int>(fill)), false));
  }
  return cases;
}

}  // namespace ztvm::kernels
