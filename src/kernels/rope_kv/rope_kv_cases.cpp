#include <fmt/format.h>

#include <cmath>

#include "kernels/cases.hpp"
#include "kernels/rope_kv/rope_kv.hpp"

namespace ztvm::kernels {
namespace {

struct RopeKvCase {
  AttentionShape shape;
  std::uint32_t n_rotated = 0;
  std::uint32_t position = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill qkv = Fill::normal;
  std::uint32_t n_gate_heads = 0;  // that follow v in a row
  bool has_norm = false;
  bool int8 = false;        // keys and values
  bool not_finite = false;  // some values
};

// Infinities and a NaN in the first row's values, each in a group of its own.
void spoil_values(std::vector<float>& qkv, const AttentionShape& shape) {
  const std::size_t first = std::size_t{shape.n_heads + shape.n_kv_heads} * shape.head_dim;
  qkv[first + 3] = INFINITY;
  qkv[first + k_int8_group + 9] = -INFINITY;
  qkv[first + 2 * k_int8_group] = NAN;
}

void build(const RopeKvCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const AttentionShape& s = c.shape;
  const gpu::Dtype activation = builder.activation();
  const std::uint32_t n_pages = div_up(c.position + c.max_rows, k_page_slots) + 2;
  const gpu::Dtype cache = c.int8 ? gpu::Dtype::i8_groups : activation;
  const auto n_cache = narrow<std::size_t>(cache_elements(s, cache, n_pages));
  const std::size_t n_q = std::size_t{c.max_rows} * s.n_heads * s.head_dim;
  const std::uint32_t row_heads = s.n_heads + 2 * s.n_kv_heads + c.n_gate_heads;
  const std::size_t n_qkv = std::size_t{c.max_rows} * row_heads * s.head_dim;
  std::vector<float> qkv = make_values(c.qkv, n_qkv, builder.random());
  if (c.not_finite) spoil_values(qkv, s);
  gpu::Tensor qk_norm;
  if (c.has_norm) qk_norm = builder.tensor(gpu::Dtype::f32, std::size_t{2} * s.head_dim, Fill::uniform);
  rope_kv(recording, "rope",
          {.shape = s,
           .n_rotated = c.n_rotated,
           .row_heads = c.n_gate_heads == 0 ? 0 : row_heads,
           .norm_eps = 1e-6f,
           .step = builder.step({.n_rows = c.n_rows, .position = c.position}),
           .qkv = builder.tensor(activation, qkv),
           .rope = builder.tensor(gpu::Dtype::f32, rope_table(c.position + c.max_rows, c.n_rotated, 10000.0)),
           .pages = builder.pages(n_pages),
           .q = builder.tensor(activation, n_q, Fill::normal),
           .keys = builder.tensor(cache, n_cache, Fill::normal),
           .values = builder.tensor(cache, n_cache, Fill::normal),
           .qk_norm = qk_norm});
}

KernelCase make_case(const RopeKvCase& c, std::string_view what, bool quick) {
  return {.kernel = "rope_kv",
          .name = fmt::format("{}: {}/{} heads of {}, {} rotated, position {}, {} of {} rows{}{}{}", what,
                              c.shape.n_heads, c.shape.n_kv_heads, c.shape.head_dim, c.n_rotated, c.position,
                              c.n_rows, c.max_rows, c.has_norm ? ", norms" : "",
                              c.n_gate_heads > 0 ? ", gate" : "", c.int8 ? ", int8" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

// Models that norm query and key heads, and rows that a gate ends.
void add_norms(std::vector<KernelCase>& cases) {
  const auto add = [&](RopeKvCase c, std::string_view what, bool quick) {
    c.has_norm = true;
    cases.push_back(make_case(c, what, quick));
  };
  const auto gated = [](const AttentionShape& shape, std::uint32_t n_rotated, std::uint32_t position,
                        std::uint32_t n_rows, Fill fill = Fill::normal) {
    return RopeKvCase{shape, n_rotated, position, n_rows, n_rows, fill, shape.n_heads};
  };
  constexpr AttentionShape k_qwen3 = {.n_heads = 32, .n_kv_heads = 8, .head_dim = 128};
  constexpr AttentionShape k_qwen35 = {.n_heads = 16, .n_kv_heads = 4, .head_dim = 256};
  add({k_qwen3, 128, 31, 1, 1}, "Qwen3", true);
  add({k_qwen3, 128, 13, 5, 64}, "Qwen3", false);
  add(gated(k_qwen35, 64, 15, 3), "Qwen3.5", true);
  add(gated({.n_heads = 16, .n_kv_heads = 2, .head_dim = 256}, 64, 0, 1), "Qwen3.6", false);
  add(gated({.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, 4, 5, 3), "small heads", false);
  add(gated({.n_heads = 5, .n_kv_heads = 5, .head_dim = 48}, 12, 5, 3), "odd heads", false);
  add({{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4}, 4, 5, 3, 3}, "smallest heads", false);
  for (const Fill fill : {Fill::outliers, Fill::denormals, Fill::zeros, Fill::constant}) {
    add(gated({.n_heads = 6, .n_kv_heads = 2, .head_dim = 64}, 16, 50, 4, fill),
        fmt::format("hard values {}", static_cast<int>(fill)), false);
  }
  // A gate without norms.
  cases.push_back(
      make_case(gated({.n_heads = 6, .n_kv_heads = 2, .head_dim = 64}, 64, 30, 4), "gate", false));
}

void add_int8(std::vector<KernelCase>& cases) {
  const auto add = [&](RopeKvCase c, std::string_view what, bool quick) {
    c.int8 = true;
    cases.push_back(make_case(c, what, quick));
  };
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  constexpr AttentionShape k_qwen35 = {.n_heads = 16, .n_kv_heads = 4, .head_dim = 256};
  add({k_smollm2, 64, 0, 1, 1}, "SmolLM2", true);
  add({k_smollm2, 64, 13, 5, 64}, "SmolLM2", true);  // over a page's end
  add({k_smollm2, 64, 1999, 64, 64}, "SmolLM2", false);
  add({{.n_heads = 32, .n_kv_heads = 32, .head_dim = 96}, 96, 100, 3, 4}, "Phi-3", false);
  add({{.n_heads = 32, .n_kv_heads = 8, .head_dim = 128}, 128, 31, 1, 1, Fill::normal, 0, true}, "Qwen3",
      false);
  add({k_qwen35, 64, 15, 3, 3, Fill::normal, k_qwen35.n_heads, true}, "Qwen3.5", true);
  add({{.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, 16, 5, 3, 3}, "half a group", false);
  add({{.n_heads = 5, .n_kv_heads = 5, .head_dim = 48}, 12, 5, 3, 3, Fill::normal, 5, true},
      "a group and a half", false);
  add({{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4}, 4, 5, 3, 3}, "smallest heads", false);
  for (const Fill fill : {Fill::outliers, Fill::denormals, Fill::zeros, Fill::constant}) {
    add({k_smollm2, 64, 50, 4, 4, fill}, fmt::format("hard values {}", static_cast<int>(fill)), false);
  }
  RopeKvCase spoilt = {{.n_heads = 2, .n_kv_heads = 2, .head_dim = 128}, 128, 16, 2, 2};
  spoilt.not_finite = true;
  add(spoilt, "infinity and NaN", true);
}

}  // namespace

std::vector<KernelCase> rope_kv_cases() {
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  std::vector<KernelCase> cases = {
      make_case({k_smollm2, 64, 0, 1, 1}, "SmolLM2", true),
      make_case({k_smollm2, 64, 13, 5, 64}, "SmolLM2", true),  // over a page's end
      make_case({k_smollm2, 64, 1999, 64, 64}, "SmolLM2", false),
      make_case({{.n_heads = 32, .n_kv_heads = 32, .head_dim = 96}, 96, 100, 3, 4}, "Phi-3", false),
      make_case({{.n_heads = 16, .n_kv_heads = 8, .head_dim = 128}, 128, 31, 2, 2}, "Qwen3", false),
      make_case({{.n_heads = 8, .n_kv_heads = 2, .head_dim = 256}, 64, 40, 3, 3}, "partial rotation", true),
      make_case({{.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, 16, 5, 3, 3}, "small heads", false),
      make_case({{.n_heads = 2, .n_kv_heads = 2, .head_dim = 48}, 48, 5, 3, 3}, "odd heads", false),
      make_case({{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4}, 4, 5, 3, 3}, "smallest heads", false),
      make_case({k_smollm2, 64, 50, 4, 4, Fill::outliers}, "outliers", false),
      make_case({k_smollm2, 64, 50, 4, 4, Fill::denormals}, "denormals", false),
      make_case({k_smollm2, 64, 50, 4, 4, Fill::zeros}, "zeros", false),
  };
  for (const std::uint32_t position : {15u, 16u, 17u}) {
    cases.push_back(make_case({k_smollm2, 64, position, 1, 1}, "page border", false));
  }
  add_norms(cases);
  add_int8(cases);
  return cases;
}

}  // namespace ztvm::kernels
