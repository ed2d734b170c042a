#include <fmt/format.h>

#include <algorithm>

#include "kernels/attention/attention.hpp"
#include "kernels/cases.hpp"

namespace ztvm::kernels {
namespace {

// Of one row, unless max_rows says otherwise.
struct RopeAttentionCase {
  AttentionShape shape;
  std::uint32_t n_rotated = 0;
  std::uint32_t position = 0;
  bool has_norm = false;
  Fill qkv = Fill::normal;
  Fill cache = Fill::normal;
  std::uint32_t max_rows = 1;
  bool int8 = false;  // keys and values
};

void build(const RopeAttentionCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const AttentionShape& s = c.shape;
  const gpu::Dtype activation = builder.activation();
  const std::uint32_t n_pages = div_up(c.position + c.max_rows, k_page_slots) + 2;
  const std::uint32_t context = c.position + c.max_rows + 130;  // more than the keys there are
  const gpu::Dtype cache = c.int8 ? gpu::Dtype::i8_groups : activation;
  const auto n_cache = narrow<std::size_t>(cache_elements(s, cache, n_pages));
  const std::size_t n_q = std::size_t{c.max_rows} * s.n_heads * s.head_dim;
  const std::size_t n_qkv = std::size_t{c.max_rows} * (s.n_heads + 2 * s.n_kv_heads) * s.head_dim;
  const auto n_partials =
      narrow<std::size_t>(std::max<std::uint64_t>(1, attention_partials(s, recording.target, context)));
  gpu::Tensor qk_norm;
  if (c.has_norm) qk_norm = builder.tensor(gpu::Dtype::f32, std::size_t{2} * s.head_dim, Fill::uniform);
  const RopeKv rope = {
      .shape = s,
      .n_rotated = c.n_rotated,
      .norm_eps = 1e-6f,
      .step = builder.step({.n_rows = c.max_rows, .position = c.position}),
      .qkv = builder.tensor(activation, n_qkv, c.qkv),
      .rope = builder.tensor(gpu::Dtype::f32, rope_table(c.position + c.max_rows, c.n_rotated, 10000.0)),
      .pages = builder.pages(n_pages),
      .q = builder.tensor(activation, n_q, Fill::normal),
      .keys = builder.tensor(cache, n_cache, c.cache),
      .values = builder.tensor(cache, n_cache, c.cache),
      .qk_norm = qk_norm};
  rope_attention(recording, "attention",
                 {.rope = rope,
                  .rope_name = "rope",
                  .out = builder.tensor(activation, n_q, Fill::normal),
                  .partials = builder.tensor(gpu::Dtype::f32, n_partials, Fill::normal),
                  .context = context});
}

KernelCase make_case(const RopeAttentionCase& c, std::string_view what, bool quick) {
  return {.kernel = "rope_attention",
          .name = fmt::format("{}: {}/{} heads of {}, {} rotated, position {}, {} rows{}{}", what,
                              c.shape.n_heads, c.shape.n_kv_heads, c.shape.head_dim, c.n_rotated, c.position,
                              c.max_rows, c.has_norm ? ", norms" : "", c.int8 ? ", int8" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

void add_int8(std::vector<KernelCase>& cases) {
  const auto add = [&](RopeAttentionCase c, std::string_view what, bool quick) {
    c.int8 = true;
    cases.push_back(make_case(c, what, quick));
  };
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  add({k_smollm2, 64, 0}, "first token", true);
  add({k_smollm2, 64, 700}, "long", true);
  add({{.n_heads = 32, .n_kv_heads = 32, .head_dim = 96}, 96, 200}, "Phi-3", false);
  add({{.n_heads = 32, .n_kv_heads = 8, .head_dim = 128}, 128, 300, true}, "Qwen3", true);
  add({{.n_heads = 16, .n_kv_heads = 2, .head_dim = 256}, 64, 130, true}, "Qwen3.6", false);
  add({{.n_heads = 15, .n_kv_heads = 3, .head_dim = 128}, 128, 70}, "five heads share keys", false);
  add({{.n_heads = 2, .n_kv_heads = 1, .head_dim = 4}, 4, 66}, "smallest heads", false);
  add({{.n_heads = 6, .n_kv_heads = 2, .head_dim = 48}, 12, 190, true, Fill::outliers}, "outliers", false);
  add({k_smollm2, 64, 90, false, Fill::zeros}, "equal scores", false);
  add({k_smollm2, 64, 90, false, Fill::constant, Fill::constant}, "equal large scores", false);
  add({k_smollm2, 64, 90, true, Fill::denormals, Fill::denormals}, "denormals", false);
  add({k_smollm2, 64, 90, false, Fill::normal, Fill::normal, 3}, "rows", false);
  for (const std::uint32_t position : {15u, 16u, 63u, 64u}) {
    add({{.n_heads = 4, .n_kv_heads = 1, .head_dim = 160}, 32, position, true}, "border, wide heads", false);
  }
}

}  // namespace

std::vector<KernelCase> rope_attention_cases() {
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  constexpr AttentionShape k_phi3 = {.n_heads = 32, .n_kv_heads = 32, .head_dim = 96};
  constexpr AttentionShape k_qwen3 = {.n_heads = 32, .n_kv_heads = 8, .head_dim = 128};
  constexpr AttentionShape k_qwen36 = {.n_heads = 16, .n_kv_heads = 2, .head_dim = 256};
  std::vector<KernelCase> cases = {
      make_case({k_smollm2, 64, 0}, "first token", true),
      make_case({k_smollm2, 64, 700}, "long", true),
      make_case({k_smollm2, 64, 8191}, "whole context", false),
      make_case({k_phi3, 96, 200}, "Phi-3", true),
      make_case({k_qwen3, 128, 300, true}, "Qwen3", true),
      make_case({k_qwen36, 64, 130, true}, "Qwen3.6", false),
      make_case({{.n_heads = 16, .n_kv_heads = 4, .head_dim = 256}, 64, 63, true}, "Qwen3.5", false),
      make_case({{.n_heads = 15, .n_kv_heads = 3, .head_dim = 128}, 128, 70}, "five heads share keys", false),
      make_case({{.n_heads = 2, .n_kv_heads = 1, .head_dim = 4}, 4, 66}, "smallest heads", false),
      make_case({{.n_heads = 6, .n_kv_heads = 2, .head_dim = 48}, 12, 190, true, Fill::outliers}, "outliers",
                false),
      make_case({{.n_heads = 2, .n_kv_heads = 1, .head_dim = 256}, 256, 4095}, "wide heads, long", false),
      make_case({k_smollm2, 64, 90, false, Fill::zeros}, "equal scores", false),
      make_case({k_smollm2, 64, 90, false, Fill::constant, Fill::constant}, "equal large scores", false),
      make_case({k_smollm2, 64, 90, true, Fill::normal, Fill::outliers}, "outliers in the cache", false),
      make_case({k_smollm2, 64, 90, true, Fill::denormals, Fill::denormals}, "denormals", false),
      make_case({k_smollm2, 64, 90, false, Fill::normal, Fill::normal, 3}, "rows", false),
  };
  for (const std::uint32_t position : {15u, 16u, 17u, 31u, 32u, 63u, 64u, 65u}) {
    cases.push_back(make_case({k_smollm2, 64, position}, "border", false));
    cases.push_back(make_case({{.n_heads = 4, .n_kv_heads = 1, .head_dim = 160}, 32, position, true},
                              "border, wide heads", false));
  }
  add_int8(cases);
  return cases;
}

}  // namespace ztvm::kernels
