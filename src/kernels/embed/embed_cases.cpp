#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/embed/embed.hpp"

namespace ztvm::kernels {
namespace {

struct EmbedCase {
  QuantKind kind = QuantKind::q8;
  std::uint32_t vocab = 0;
  std::uint32_t dim = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  std::uint32_t n_parts = 1;
  Fill fill = Fill::normal;
};

void build(const EmbedCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  std::vector<std::uint32_t> tokens(c.max_rows);
  for (std::uint32_t& token : tokens) token = builder.random().below(c.vocab);
  tokens[0] = c.vocab - 1;
  const Matrix table = builder.matrix(c.kind, c.vocab, c.dim, c.fill, c.n_parts);
  embed(recording, {.table = table,
                    .step = builder.step({.n_rows = c.n_rows}),
                    .tokens = builder.words(tokens),
                    .out = builder.tensor(gpu::Dtype::f32, std::size_t{c.max_rows} * c.dim, Fill::normal)});
}

KernelCase make_case(const EmbedCase& c, std::string_view what, bool quick) {
  return {.kernel = "embed",
          .name = fmt::format("{}: {} {}x{}, {} of {} rows, {} parts", what, to_string(c.kind), c.vocab,
                              c.dim, c.n_rows, c.max_rows, c.n_parts),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> embed_cases() {
  std::vector<KernelCase> cases;
  for (const QuantKind kind : {QuantKind::f32, QuantKind::f16, QuantKind::q8, QuantKind::q4}) {
    cases.push_back(make_case({kind, 40, 96, 3, 5, 1}, "odd", true));
    cases.push_back(make_case({kind, 41, 32, 63, 64, 3}, "parts", false));
    cases.push_back(make_case({kind, 40, 576, 5, 5, 1, Fill::outliers}, "outliers", false));
    cases.push_back(make_case({kind, 3, 64, 2, 2, 1, Fill::zeros}, "zeros", false));
  }
  for (const QuantKind kind :
       {QuantKind::bf16, QuantKind::q3, QuantKind::q4_k, QuantKind::q5_k, QuantKind::q6_k}) {
    const std::uint32_t dim = QuantLayout{.kind = kind}.dim_multiple();
    cases.push_back(make_case({kind, 40, 3 * dim, 3, 5, 1}, "odd", true));
    cases.push_back(make_case({kind, 41, dim, 63, 64, 3}, "parts", false));
    cases.push_back(make_case({kind, 40, dim, 5, 5, 1, Fill::outliers}, "outliers", false));
  }
  cases.push_back(make_case({QuantKind::q8, 49152, 576, 1, 1, 1}, "SmolLM2", false));
  cases.push_back(make_case({QuantKind::q4, 2000, 3072, 17, 64, 2}, "Phi-3", false));
  return cases;
}

}  // namespace ztvm::kernels
