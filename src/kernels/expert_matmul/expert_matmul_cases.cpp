#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/expert_matmul/expert_matmul.hpp"
#include "kernels/group_experts/group_experts.hpp"

namespace ztvm::kernels {
namespace {

struct ExpertCase {
  QuantKind kind = QuantKind::q4;
  bool gate_up = false;  // swiglu of rows, else f32 of pairs
  bool by_group = false;
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  std::uint32_t n_columns = 0;
  std::uint32_t dim = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  std::uint32_t n_candidates = 0;  // experts that rows choose from; 0: all
  std::uint32_t n_parts = 1;
  Fill weights = Fill::normal;
  Fill x = Fill::normal;
};

void build(const ExpertCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::size_t n_pairs = std::size_t{c.max_rows} * c.top_k;
  const std::uint32_t expert_rows = c.gate_up ? 2 * c.n_columns : c.n_columns;
  const std::uint32_t n_candidates = c.n_candidates == 0 ? c.n_experts : c.n_candidates;
  const gpu::Tensor step = builder.step({.n_rows = c.n_rows});
  const gpu::Tensor ids = builder.expert_ids(c.max_rows, c.top_k, n_candidates);
  std::optional<ExpertGroups> groups;
  if (c.by_group) {
    groups = {.offsets = builder.stale_words(c.n_experts + 1), .order = builder.stale_words(n_pairs)};
    group_experts(recording, "group",
                  {.n_experts = c.n_experts,
                   .top_k = c.top_k,
                   .step = step,
                   .ids = ids,
                   .offsets = groups->offsets,
                   .order = groups->order});
  }
  std::optional<QuantisedInput> quantised;
  if (c.by_group && !recording.target.cpu) {
    quantised = builder.quantised_input(c.max_rows, c.gate_up ? c.dim : c.top_k * c.dim);
  }
  const Matrix weights =
      builder.matrix(c.kind, c.n_experts * expert_rows, c.dim, c.weights, c.n_parts, expert_rows);
  expert_matmul(recording, "experts",
                {.weights = weights,
                 .n_experts = c.n_experts,
                 .top_k = c.top_k,
                 .epilogue = c.gate_up ? Epilogue::swiglu : Epilogue::store_f32,
                 .input = c.gate_up ? ExpertInput::rows : ExpertInput::pairs,
                 .step = step,
                 .x = builder.tensor(builder.activation(), (c.gate_up ? c.max_rows : n_pairs) * c.dim, c.x),
                 .ids = ids,
                 .groups = groups,
                 .quantised = quantised,
                 .out = builder.tensor(c.gate_up ? builder.activation() : gpu::Dtype::f32,
                                       n_pairs * c.n_columns, Fill::normal)});
}

KernelCase make_case(const ExpertCase& c, std::string_view what, bool quick) {
  return {.kernel = "expert_matmul",
          .name = fmt::format("{}: {} {} by {}, {} of {} experts {}x{}, {} of {} rows", what,
                              ztvm::to_string(c.kind), c.gate_up ? "gate and up" : "down",
                              c.by_group ? "group" : "slot", c.top_k, c.n_experts, c.n_columns, c.dim,
                              c.n_rows, c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

// Few distinct shapes in all, because each one compiles for every kernel set.
void add_odd_sizes(std::vector<KernelCase>& cases) {
  for (const bool by_group : {false, true}) {
    for (const bool gate_up : {false, true}) {
      ExpertCase c = {.gate_up = gate_up, .by_group = by_group, .n_experts = 5, .top_k = 3};
      c.n_columns = 17;
      c.dim = 96;
      c.n_rows = 3;
      c.max_rows = 11;
      cases.push_back(make_case(c, "odd", true));
      c.n_rows = 11;
      c.n_candidates = 4;
      cases.push_back(make_case(c, "crowded", false));
    }
  }
}

constexpr ExpertCase k_shape = {
    .n_experts = 4, .top_k = 2, .n_columns = 9, .dim = 288, .n_rows = 5, .max_rows = 6};

void add_kinds_and_parts(std::vector<KernelCase>& cases) {
  for (const bool by_group : {false, true}) {
    ExpertCase c = k_shape;
    c.gate_up = by_group;
    c.by_group = by_group;
    // By slot, matmul's cases have every kind with the same shader parts.
    for (const QuantKind kind : {by_group ? QuantKind::f16 : QuantKind::f32, QuantKind::q8}) {
      c.kind = kind;
      cases.push_back(make_case(c, "kind", false));
    }
    c.kind = QuantKind::q4;
    c.n_parts = 2;
    c.n_experts = 3;  // two, and one
    cases.push_back(make_case(c, "parts", true));
  }
}

// By group: whole numbers of every kind that has them, and the kinds that have none.
void add_kinds_by_group(std::vector<KernelCase>& cases) {
  ExpertCase c = k_shape;
  c.by_group = true;
  for (const QuantKind kind :
       {QuantKind::q3, QuantKind::q4_k, QuantKind::q5_k, QuantKind::q6_k, QuantKind::bf16, QuantKind::f32}) {
    c.kind = kind;
    c.dim = QuantLayout{.kind = kind}.dim_multiple() == k_quant_super_block ? 512 : 288;
    c.gate_up = kind == QuantKind::q4_k || kind == QuantKind::q6_k;
    cases.push_back(make_case(c, "kind", kind == QuantKind::q6_k));
  }
}

// By group: as many pairs of an expert as a tile has rows, one less, one more, and many times as many; experts without one
// between them; more columns than a tile has, too.
void add_tiles(std::vector<KernelCase>& cases) {
  ExpertCase c = {.by_group = true, .n_experts = 3, .top_k = 3, .n_columns = 70, .dim = 64};
  c.max_rows = 130;
  for (const bool gate_up : {false, true}) {
    c.gate_up = gate_up;
    for (const std::uint32_t n_rows : {1u, 31u, 32u, 33u, 130u}) {
      c.n_rows = n_rows;
      cases.push_back(make_case(c, "tiles", n_rows == 33));
    }
  }
  c.n_rows = 97;
  c.n_experts = 40;
  c.n_candidates = 9;
  c.n_columns = 7;
  cases.push_back(make_case(c, "most without pairs", false));
  c.n_parts = 3;
  cases.push_back(make_case(c, "parts", false));
  c.gate_up = false;
  c.n_parts = 7;
  cases.push_back(make_case(c, "parts", true));
}

void add_hard_values(std::vector<KernelCase>& cases) {
  const auto add = [&](Fill weights, Fill x, std::string_view what) {
    for (const bool by_group : {false, true}) {
      ExpertCase c = k_shape;
      c.gate_up = by_group && weights != Fill::outliers;
      c.by_group = by_group;
      c.weights = weights;
      c.x = x;
      cases.push_back(make_case(c, what, false));
    }
  };
  add(Fill::normal, Fill::outliers, "outliers in x");
  add(Fill::outliers, Fill::normal, "outliers in weights");
  add(Fill::normal, Fill::zeros, "zero x");
  add(Fill::normal, Fill::denormals, "denormals in x");
  add(Fill::integers, Fill::integers, "exact");
  add(Fill::normal, Fill::alternating, "alternating");
}

void add_counts(std::vector<KernelCase>& cases) {
  for (const bool by_group : {false, true}) {
    const auto add = [&](ExpertCase c, std::string_view what) {
      c.by_group = by_group;
      cases.push_back(make_case(c, what, false));
    };
    add({.n_experts = 1, .top_k = 1, .n_columns = 1, .dim = 32, .n_rows = 9, .max_rows = 9}, "one expert");
    add({.n_experts = 16, .top_k = 16, .n_columns = 5, .dim = 64, .n_rows = 3, .max_rows = 3}, "all");
    add({.n_experts = 256, .top_k = 8, .n_columns = 6, .dim = 32, .n_rows = 63, .max_rows = 64}, "many");
  }
  // Rounds of llvmpipe's loops: more pairs of one expert than one thread may go through.
  cases.push_back(make_case({.gate_up = true,
                             .by_group = true,
                             .n_experts = 2,
                             .top_k = 1,
                             .n_columns = 3,
                             .dim = 2048,
                             .n_rows = 110,
                             .max_rows = 110,
                             .n_candidates = 1},
                            "one takes all", false));
}

// The experts of Qwen3.6-35B-A3B, but few of the 256: all of them are 270 MB.
void add_true_shapes(std::vector<KernelCase>& cases) {
  for (const bool by_group : {false, true}) {
    ExpertCase c = {.by_group = by_group, .n_experts = 4, .top_k = 2, .n_columns = 2048, .dim = 512};
    c.n_rows = by_group ? 5 : 1;
    c.max_rows = c.n_rows;
    cases.push_back(make_case(c, "Qwen3.6", !by_group));
    c.gate_up = true;
    c.n_columns = 512;
    c.dim = 2048;
    cases.push_back(make_case(c, "Qwen3.6", false));
  }
  ExpertCase many = {.by_group = true, .n_experts = 256, .top_k = 8, .n_columns = 64, .dim = 512};
  many.n_rows = 512;
  many.max_rows = 512;
  cases.push_back(make_case(many, "Qwen3.6 but for columns", false));
}

}  // namespace

std::vector<KernelCase> expert_matmul_cases() {
  std::vector<KernelCase> cases;
  add_odd_sizes(cases);
  add_kinds_and_parts(cases);
  add_kinds_by_group(cases);
  add_tiles(cases);
  add_hard_values(cases);
  add_counts(cases);
  add_true_shapes(cases);
  return cases;
}

}  // namespace ztvm::kernels
