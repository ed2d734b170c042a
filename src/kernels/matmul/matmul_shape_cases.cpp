#include "kernels/matmul/matmul_case.hpp"

namespace ztvm::kernels {
namespace {

// Rows so long that their bytes are made in chunks, and rows shorter than the threads that share them.
void add_row_lengths(std::vector<KernelCase>& cases) {
  for (const QuantKind kind : {QuantKind::q4, QuantKind::q8}) {
    for (const std::uint32_t dim : {32u, 1024u, 1056u, 4128u, 9728u}) {
      for (const bool least_limits : {false, true}) {
        if (least_limits && dim < 9728) continue;
        cases.push_back(make_case({.kind = kind,
                                   .epilogue = Epilogue::add_residual,
                                   .n_weight_rows = 12,
                                   .dim = dim,
                                   .least_limits = least_limits},
                                  "row length", false));
      }
    }
  }
}

// What one row chooses by: several steps and small teams for many weight rows, large teams for few.
void add_teams(std::vector<KernelCase>& cases) {
  const auto add = [&](const MatmulCase& c) { cases.push_back(make_case(c, "teams", false)); };
  add({.n_weight_rows = 8195, .dim = 64});
  add({.epilogue = Epilogue::swiglu, .n_weight_rows = 2 * 4101, .dim = 512, .norm = true});
  add({.epilogue = Epilogue::add_residual, .n_weight_rows = 37, .dim = 3072});
  add({.kind = QuantKind::q8, .n_weight_rows = 29, .dim = 2048, .norm = true});
}

void add_with_all_forms(std::vector<KernelCase>& cases, const MatmulCase& c, std::string_view what,
                        bool quick) {
  cases.push_back(make_case(c, what, quick));
  cases.back().all_forms = true;
}

// What adapters choose from, for one row, few and many.
void add_forms(std::vector<KernelCase>& cases) {
  const auto add = [&](const MatmulCase& c) { add_with_all_forms(cases, c, "all forms", false); };
  add({.epilogue = Epilogue::swiglu, .n_weight_rows = 146, .dim = 1056, .norm = true});
  add({.kind = QuantKind::q8, .epilogue = Epilogue::add_residual, .n_weight_rows = 37, .dim = 5152});
  add({.kind = QuantKind::f16, .n_weight_rows = 21, .dim = 1056});
  for (const std::uint32_t max_rows : {16u, 70u}) {
    const std::uint32_t n_rows = max_rows - 3;
    add({.epilogue = Epilogue::swiglu,
         .n_weight_rows = 146,
         .dim = 1056,
         .n_rows = n_rows,
         .max_rows = max_rows});
    add({.kind = QuantKind::q3,
         .epilogue = Epilogue::add_residual,
         .n_weight_rows = 37,
         .dim = 96,
         .n_rows = n_rows,
         .max_rows = max_rows,
         .n_parts = 2});
  }
}

// Few rows as a model's prompts have them, room for k_few_rows, each in every form: one and two matrices of rows, stages that
// some subgroups lack, columns beyond the last.
void add_few_rows(std::vector<KernelCase>& cases) {
  const auto add = [&](MatmulCase c, bool quick, std::string_view what = "few rows") {
    c.max_rows = k_few_rows;
    add_with_all_forms(cases, c, what, quick);
  };
  add({.n_weight_rows = 75, .dim = 64, .n_rows = 17}, true);
  add({.epilogue = Epilogue::swiglu, .n_weight_rows = 154, .dim = 640, .n_rows = 31, .norm = true}, true);
  add({.epilogue = Epilogue::add_residual, .n_weight_rows = 37, .dim = 1088, .n_rows = 16, .n_parts = 2},
      false);
  add({.kind = QuantKind::q8, .n_weight_rows = 70, .dim = 576, .n_rows = 2}, false);
  add({.kind = QuantKind::q3, .epilogue = Epilogue::swiglu, .n_weight_rows = 66, .dim = 192, .n_rows = 32},
      false);
  add({.kind = QuantKind::q4_k,
       .epilogue = Epilogue::add_residual,
       .n_weight_rows = 33,
       .dim = 512,
       .n_rows = 20},
      false);
  add({.kind = QuantKind::q5_k,
       .epilogue = Epilogue::store_f32,
       .n_weight_rows = 47,
       .dim = 256,
       .n_rows = 9},
      false);
  using Hard = std::pair<Fill, std::string_view>;
  for (const auto& [fill, what] :
       {Hard{Fill::outliers, "few rows of outliers"}, Hard{Fill::zeros, "few rows of zeros"},
        Hard{Fill::integers, "few rows of integers"}}) {
    add({.epilogue = Epilogue::store_f32,
         .n_weight_rows = 40,
         .dim = 384,
         .n_rows = 19,
         .weights = fill,
         .x = fill},
        false, what);
  }
}

// Some rows, several tiles of few, each in every form: tiles that are full, whose last has few rows or many, or none at all.
void add_some_rows(std::vector<KernelCase>& cases) {
  const auto add = [&](MatmulCase c, bool quick) {
    c.max_rows = k_some_rows;
    add_with_all_forms(cases, c, "some rows", quick);
  };
  add({.n_weight_rows = 75, .dim = 64, .n_rows = 128}, false);
  add({.epilogue = Epilogue::swiglu, .n_weight_rows = 90, .dim = 192, .n_rows = 33, .norm = true}, true);
  add({.epilogue = Epilogue::add_residual, .n_weight_rows = 37, .dim = 576, .n_rows = 85}, false);
  add({.kind = QuantKind::q8, .n_weight_rows = 40, .dim = 128, .n_rows = 64}, false);
  add({.kind = QuantKind::q4_k, .n_weight_rows = 33, .dim = 256, .n_rows = 112}, false);
}

// Many rows in tiles, each in every form: row and column tails, stages that are not full, weights with scales of both kinds.
void add_tiles(std::vector<KernelCase>& cases) {
  const auto add = [&](const MatmulCase& c, bool quick, std::string_view what = "tiles") {
    add_with_all_forms(cases, c, what, quick);
  };
  add({.n_weight_rows = 150, .dim = 96, .n_rows = 129, .max_rows = 130}, true);
  add({.epilogue = Epilogue::swiglu, .n_weight_rows = 270, .dim = 160, .n_rows = 65, .max_rows = 96}, true);
  add({.kind = QuantKind::q8,
       .epilogue = Epilogue::add_residual,
       .n_weight_rows = 33,
       .dim = 288,
       .n_rows = 33,
       .max_rows = 64},
      false);
  add({.kind = QuantKind::q3,
       .epilogue = Epilogue::swiglu,
       .n_weight_rows = 68,
       .dim = 64,
       .n_rows = 40,
       .max_rows = 40},
      false);
  for (const QuantKind kind : {QuantKind::q4_k, QuantKind::q5_k}) {
    add({.kind = kind, .n_weight_rows = 70, .dim = 512, .n_rows = 37, .max_rows = 64},
        kind == QuantKind::q4_k);
  }
  add({.epilogue = Epilogue::swiglu,
       .n_weight_rows = 120,
       .dim = 96,
       .n_rows = 34,
       .max_rows = 40,
       .n_parts = 3},
      false);
  add({.epilogue = Epilogue::add_residual, .n_weight_rows = 40, .dim = 128, .n_rows = 17, .max_rows = 512},
      false);
  add({.n_weight_rows = 40, .dim = 96, .n_rows = 35, .max_rows = 48, .norm = true}, false);
  add({.n_weight_rows = 100, .dim = 160, .n_rows = 70, .max_rows = 96, .least_limits = true}, false);
  // Weights below what f16 holds exactly are left out: prompts may be multiplied in f16 (docs/numerics.md).
  using Hard = std::pair<Fill, std::string_view>;
  for (const auto& [fill, what] :
       {Hard{Fill::outliers, "tiles of outliers"}, Hard{Fill::denormals, "tiles of denormals"},
        Hard{Fill::zeros, "tiles of zeros"}, Hard{Fill::integers, "tiles of integers"}}) {
    add({.epilogue = Epilogue::store_f32,
         .n_weight_rows = 96,
         .dim = 352,
         .n_rows = 50,
         .max_rows = 50,
         .weights = fill == Fill::denormals ? Fill::normal : fill,
         .x = fill},
        false, what);
  }
}

// The matrices of the models: qkv, output, gate and up, down, head.
void add_true_shapes(std::vector<KernelCase>& cases) {
  const auto add = [&](MatmulCase c, std::string_view what, bool quick) {
    cases.push_back(make_case(c, what, quick));
  };
  for (const std::uint32_t max_rows : {1u, 64u}) {
    const std::uint32_t n_rows = max_rows;
    // The unrolled form of one row compiles for seconds, so doctor's short run has one of these.
    const bool quick = max_rows == 1;
    add({.n_weight_rows = 960, .dim = 576, .n_rows = n_rows, .max_rows = max_rows}, "SmolLM2 qkv", quick);
    add({.epilogue = Epilogue::add_residual,
         .n_weight_rows = 576,
         .dim = 576,
         .n_rows = n_rows,
         .max_rows = max_rows},
        "SmolLM2 output", false);
    add({.epilogue = Epilogue::swiglu,
         .n_weight_rows = 3072,
         .dim = 576,
         .n_rows = n_rows,
         .max_rows = max_rows},
        "SmolLM2 gate and up", false);
    add({.epilogue = Epilogue::add_residual,
         .n_weight_rows = 576,
         .dim = 1536,
         .n_rows = n_rows,
         .max_rows = max_rows},
        "SmolLM2 down", false);
  }
  const MatmulCase head = {.kind = QuantKind::q8,
                           .epilogue = Epilogue::store_f32,
                           .n_weight_rows = 49152,
                           .dim = 576,
                           .n_rows = 3,
                           .max_rows = 64,
                           .rows = Rows::last};
  add(head, "SmolLM2 head", false);
  MatmulCase split = head;
  split.n_parts = 5;
  add(split, "SmolLM2 head in parts", false);
  add({.epilogue = Epilogue::add_residual, .n_weight_rows = 3072, .dim = 3072, .n_rows = 1, .max_rows = 4},
      "Phi-3 output", false);
  add({.n_weight_rows = 4096, .dim = 1024, .n_rows = 3, .max_rows = 4}, "Qwen3 qkv", false);
}

}  // namespace

void add_shape_cases(std::vector<KernelCase>& cases) {
  add_row_lengths(cases);
  add_teams(cases);
  add_forms(cases);
  add_few_rows(cases);
  add_some_rows(cases);
  add_tiles(cases);
  add_true_shapes(cases);
}

}  // namespace ztvm::kernels
