#include <fmt/format.h>

#include <optional>

#include "kernels/matmul/matmul_case.hpp"

namespace ztvm::kernels {
namespace {

std::string_view to_string(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::store: return "store";
    case Epilogue::store_f32: return "store f32";
    case Epilogue::add_residual: return "residual";
    case Epilogue::swiglu: return "swiglu";
  }
  return {};
}

// The memory of the form that multiplies whole numbers, where the kernel set has it.
std::optional<QuantisedInput> quantised_input(CaseBuilder& builder, const gpu::Recording& recording,
                                              std::uint32_t dim) {
  if (recording.target.cpu) return std::nullopt;
  return builder.quantised_input(recording.max_rows, dim);
}

void build(const MatmulCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const bool f32_out = c.epilogue == Epilogue::store_f32 || c.epilogue == Epilogue::add_residual;
  const std::uint32_t columns = c.epilogue == Epilogue::swiglu ? c.n_weight_rows / 2 : c.n_weight_rows;
  const std::uint32_t x_rows = c.rows == Rows::all ? round_up(c.max_rows, matmul_tile(c.max_rows)) : 1;
  std::optional<InputNorm> norm;
  if (c.norm) {
    norm = {.name = "norm",
            .weight = builder.tensor(gpu::Dtype::f32, c.dim, Fill::normal),
            .eps = 1e-5f,
            .normed = builder.tensor(builder.activation(), std::size_t{x_rows} * c.dim, Fill::normal)};
  }
  const Matrix weights = builder.matrix(c.kind, c.n_weight_rows, c.dim, c.weights, c.n_parts);
  matmul(recording, "matmul",
         {.weights = weights,
          .epilogue = c.epilogue,
          .rows = c.rows,
          .norm = norm,
          .quantised = quantised_input(builder, recording, c.dim),
          .step = builder.step({.n_rows = c.n_rows}),
          .x = builder.tensor(c.norm ? gpu::Dtype::f32 : builder.activation(),
                              std::size_t{c.norm ? c.max_rows : x_rows} * c.dim, c.x),
          .out = builder.tensor(f32_out ? gpu::Dtype::f32 : builder.activation(),
                                std::size_t{c.max_rows} * columns, Fill::normal)});
}

}  // namespace

KernelCase make_case(const MatmulCase& c, std::string_view what, bool quick) {
  return {.kernel = "matmul",
          .name = fmt::format("{}: {} {} {}x{}, {} of {} rows{}{}{}", what, ztvm::to_string(c.kind),
                              to_string(c.epilogue), c.n_weight_rows, c.dim, c.n_rows, c.max_rows,
                              c.rows == Rows::last ? ", last" : "", c.norm ? ", normed" : "",
                              c.least_limits ? ", least limits" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick,
          .least_limits = c.least_limits};
}

namespace {

// Kinds with every case. The others differ from them in the weights part alone, so they have a handful.
constexpr std::array k_kinds = {QuantKind::f32, QuantKind::f16, QuantKind::q8, QuantKind::q4};
constexpr std::array k_other_kinds = {QuantKind::bf16, QuantKind::q3, QuantKind::q4_k, QuantKind::q5_k,
                                      QuantKind::q6_k};
constexpr std::array k_epilogues = {Epilogue::store, Epilogue::store_f32, Epilogue::add_residual,
                                    Epilogue::swiglu};

// Every kind with every epilogue, at sizes that fill no tile and no workgroup.
void add_combinations(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : k_kinds) {
    for (const Epilogue epilogue : k_epilogues) {
      const std::uint32_t mats = epilogue == Epilogue::swiglu ? 2 : 1;
      const auto add = [&](MatmulCase c, std::string_view what, bool quick) {
        c.kind = kind;
        c.epilogue = epilogue;
        c.n_weight_rows *= mats;
        cases.push_back(make_case(c, what, quick));
      };
      add({.n_weight_rows = 17, .dim = 96, .n_rows = 3, .max_rows = 3}, "odd", true);
      add({.n_weight_rows = 7, .dim = 576, .n_rows = 5, .max_rows = 64}, "tail", false);
      add({.n_weight_rows = 19, .dim = 576, .n_rows = 5, .max_rows = 5, .rows = Rows::last}, "last", false);
      if (epilogue != Epilogue::store && epilogue != Epilogue::swiglu) continue;
      add({.n_weight_rows = 1, .dim = 32, .n_rows = 1, .max_rows = 1}, "smallest", false);
      add({.n_weight_rows = 33, .dim = 96, .n_rows = 63, .max_rows = 64}, "many rows", false);
    }
  }
}

void add_hard_values(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : k_kinds) {
    const auto add = [&](Fill weights, Fill x, std::string_view what) {
      cases.push_back(make_case({.kind = kind,
                                 .epilogue = Epilogue::store_f32,
                                 .n_weight_rows = 48,
                                 .dim = 288,
                                 .n_rows = 4,
                                 .max_rows = 4,
                                 .weights = weights,
                                 .x = x},
                                what, false));
    };
    add(Fill::normal, Fill::outliers, "outliers in x");
    add(Fill::outliers, Fill::normal, "outliers in weights");
    add(Fill::zeros, Fill::normal, "zero weights");
    add(Fill::normal, Fill::zeros, "zero x");
    add(Fill::normal, Fill::denormals, "denormals in x");
    add(Fill::constant, Fill::constant, "constant");
    add(Fill::integers, Fill::integers, "exact");
    add(Fill::normal, Fill::alternating, "alternating");
  }
}

// Every way that weights enter a product, at one and three of the smallest dim.
void add_other_kinds(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : k_other_kinds) {
    const std::uint32_t dim = QuantLayout{.kind = kind}.dim_multiple();
    const auto add = [&](MatmulCase c, std::string_view what, bool quick) {
      c.kind = kind;
      cases.push_back(make_case(c, what, quick));
    };
    add({.n_weight_rows = 17, .dim = 3 * dim, .n_rows = 3, .max_rows = 3}, "odd", true);
    add({.epilogue = Epilogue::swiglu, .n_weight_rows = 26, .dim = dim, .n_rows = 5, .max_rows = 64}, "tail",
        false);
    add({.epilogue = Epilogue::add_residual, .n_weight_rows = 20, .dim = 3 * dim}, "one row", false);
    add({.epilogue = Epilogue::store_f32,
         .n_weight_rows = 19,
         .dim = dim,
         .n_rows = 5,
         .max_rows = 5,
         .rows = Rows::last,
         .n_parts = 3},
        "last in parts", false);
    using Hard = std::pair<Fill, std::string_view>;
    for (const auto& [fill, what] : {Hard{Fill::outliers, "outliers"}, Hard{Fill::zeros, "zero weights"},
                                     Hard{Fill::denormals, "denormals"}, Hard{Fill::integers, "exact"}}) {
      add({.epilogue = Epilogue::store_f32,
           .n_weight_rows = 23,
           .dim = dim,
           .n_rows = 4,
           .max_rows = 4,
           .weights = fill,
           .x = fill == Fill::integers ? Fill::integers : Fill::normal},
          what, false);
    }
  }
}

// Tiles of 128 by 128, which need many of them; and the router of Qwen3.6, whose input is in no whole numbers either.
void add_float_tiles(std::vector<KernelCase>& cases) {
  const auto add = [&](QuantKind kind, Epilogue epilogue, std::uint32_t n_weight_rows, std::uint32_t n_rows) {
    cases.push_back(make_case({.kind = kind,
                               .epilogue = epilogue,
                               .n_weight_rows = n_weight_rows,
                               .dim = QuantLayout{.kind = kind}.dim_multiple(),
                               .n_rows = n_rows,
                               .max_rows = 512},
                              "tiles", kind == QuantKind::f16));
  };
  add(QuantKind::f16, Epilogue::store, 1500, 130);
  add(QuantKind::f16, Epilogue::swiglu, 1500, 3);
  add(QuantKind::f32, Epilogue::store_f32, 1409, 127);
  add(QuantKind::q6_k, Epilogue::add_residual, 1536, 129);
  for (const std::uint32_t n_rows : {5u, 64u}) {
    const auto build_router = [n_rows](CaseBuilder& builder, gpu::Recording& recording) {
      const Matrix weights = builder.matrix(QuantKind::q8, 257, 2048, Fill::normal);
      matmul(recording, "router",
             {.weights = weights,
              .epilogue = Epilogue::store_f32,
              .step = builder.step({.n_rows = n_rows}),
              .x = builder.tensor(builder.activation(), 64uz * 2048, Fill::normal),
              .out = builder.tensor(gpu::Dtype::f32, 64uz * 257, Fill::normal)});
    };
    cases.push_back({.kernel = "matmul",
                     .name = fmt::format("router: q8 257x2048, {} of 64 rows", n_rows),
                     .build = build_router,
                     .max_rows = 64,
                     .quick = n_rows == 5});
  }
}

// Fused tensors that are stored in different kinds: q and k as Q4_K beside v as Q6_K, and the rest.
void add_mixed_kinds(std::vector<KernelCase>& cases) {
  for (const std::uint32_t n_rows : {1u, 3u, 40u}) {
    const auto build_mixed = [n_rows](CaseBuilder& builder, gpu::Recording& recording) {
      const Matrix weights = builder.mixed_matrix(k_all_quant_kinds, 12, k_quant_super_block, Fill::normal);
      matmul(recording, "matmul",
             {.weights = weights,
              .quantised = quantised_input(builder, recording, weights.dim),
              .step = builder.step({.n_rows = n_rows}),
              .x = builder.tensor(builder.activation(), std::size_t{n_rows} * weights.dim, Fill::normal),
              .out = builder.tensor(builder.activation(), std::size_t{n_rows} * weights.rows, Fill::normal)});
    };
    cases.push_back({.kernel = "matmul",
                     .name = fmt::format("parts of every kind: {} rows", n_rows),
                     .build = build_mixed,
                     .max_rows = n_rows,
                     .quick = false});
  }
}

// One row and rows of four weights: the CPU set's fast form, which unrolls a weight row and takes matrices from 2^17
// elements. Short rows, because it compiles long; the true shapes are the long ones.
void add_one_row(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : {QuantKind::q8, QuantKind::q4}) {
    const auto add = [&](Epilogue epilogue, std::uint32_t n_weight_rows, std::uint32_t dim, bool quick) {
      cases.push_back(
          make_case({.kind = kind, .epilogue = epilogue, .n_weight_rows = n_weight_rows, .dim = dim},
                    "one row", quick));
    };
    add(Epilogue::store, 4100, 32, false);
    add(Epilogue::store_f32, 1372, 96, true);
    add(Epilogue::store, 596, 224, false);
    add(Epilogue::swiglu, 1376, 96, true);
    add(Epilogue::add_residual, 2052, 64, false);
    add(Epilogue::add_residual, 172, 800, false);
    add(Epilogue::store, 172, 800, false);  // more than one op unrolls, and no residual to add up in
    add(Epilogue::store, 100, 96, false);   // too small
    cases.push_back(make_case({.kind = kind,
                               .epilogue = Epilogue::store_f32,
                               .n_weight_rows = 4120,
                               .dim = 96,
                               .n_rows = 3,
                               .max_rows = 4,
                               .rows = Rows::last,
                               .n_parts = 3},
                              "last in parts", false));
  }
}

// The norm of the input, made along with the product or before it.
void add_norms(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : {QuantKind::q4, QuantKind::q8, QuantKind::f16}) {
    const auto add = [&](MatmulCase c, std::string_view what, bool quick) {
      c.kind = kind;
      c.norm = true;
      cases.push_back(make_case(c, what, quick));
    };
    add({.n_weight_rows = 37, .dim = 160}, "one row", true);
    add({.epilogue = Epilogue::swiglu, .n_weight_rows = 46, .dim = 8224}, "chunks", kind == QuantKind::q4);
    add({.epilogue = Epilogue::store_f32,
         .n_weight_rows = 19,
         .dim = 64,
         .n_rows = 3,
         .max_rows = 4,
         .rows = Rows::last,
         .n_parts = 2},
        "last", true);
    add({.n_weight_rows = 21, .dim = 96, .n_rows = 5, .max_rows = 6}, "rows", false);
    using Hard = std::pair<Fill, std::string_view>;
    for (const auto& [fill, what] :
         {Hard{Fill::outliers, "outliers"}, Hard{Fill::zeros, "zeros"}, Hard{Fill::denormals, "denormals"}}) {
      add({.n_weight_rows = 24, .dim = 128, .x = fill}, what, false);
    }
  }
}

}  // namespace

std::vector<KernelCase> matmul_cases() {
  std::vector<KernelCase> cases;
  add_combinations(cases);
  add_hard_values(cases);
  add_other_kinds(cases);
  add_float_tiles(cases);
  add_mixed_kinds(cases);
  add_one_row(cases);
  add_norms(cases);
  add_shape_cases(cases);
  // More workgroups than one axis takes.
  cases.push_back(make_case({.kind = QuantKind::q4,
                             .epilogue = Epilogue::store_f32,
                             .n_weight_rows = 131'077,
                             .dim = 32,
                             .n_rows = 2,
                             .max_rows = 2},
                            "wide grid", false));
  cases.back().all_forms = true;
  for (const QuantKind kind : k_kinds) {
    cases.push_back(
        make_case({.kind = kind, .n_weight_rows = 23, .dim = 64, .n_rows = 6, .max_rows = 6, .n_parts = 4},
                  "parts", false));
  }
  // Each part has rows of gate, then the same of up.
  cases.push_back(make_case({.kind = QuantKind::q4,
                             .epilogue = Epilogue::swiglu,
                             .n_weight_rows = 40,
                             .dim = 64,
                             .n_rows = 5,
                             .max_rows = 6,
                             .n_parts = 3},
                            "parts of gate and up", true));
  return cases;
}

}  // namespace ztvm::kernels
