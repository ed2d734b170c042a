#include <fmt/format.h>

#include "kernels/attention/attention.hpp"
#include "kernels/cases.hpp"

namespace ztvm::kernels {
namespace {

struct AttentionCase {
  AttentionShape shape;
  std::uint32_t position = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill q = Fill::normal;
  Fill keys = Fill::normal;
  Fill values = Fill::normal;
  bool int8 = false;  // keys and values
  bool least_limits = false;
};

void build(const AttentionCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const AttentionShape& s = c.shape;
  const gpu::Dtype activation = builder.activation();
  const std::uint32_t n_pages = div_up(c.position + c.max_rows, k_page_slots) + 2;
  const gpu::Dtype cache = c.int8 ? gpu::Dtype::i8_groups : activation;
  const auto n_cache = narrow<std::size_t>(cache_elements(s, cache, n_pages));
  const std::size_t n_q = std::size_t{c.max_rows} * s.n_heads * s.head_dim;
  attention(recording, "attention",
            {.shape = s,
             .step = builder.step({.n_rows = c.n_rows, .position = c.position}),
             .q = builder.tensor(activation, n_q, c.q),
             .keys = builder.tensor(cache, n_cache, c.keys),
             .values = builder.tensor(cache, n_cache, c.values),
             .pages = builder.pages(n_pages),
             .out = builder.tensor(activation, n_q, Fill::normal)});
}

KernelCase make_case(const AttentionCase& c, std::string_view what, bool quick) {
  return {.kernel = "attention",
          .name = fmt::format("{}: {}/{} heads of {}, position {}, {} of {} rows{}{}", what, c.shape.n_heads,
                              c.shape.n_kv_heads, c.shape.head_dim, c.position, c.n_rows, c.max_rows,
                              c.int8 ? ", int8" : "", c.least_limits ? ", least limits" : ""),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick,
          .least_limits = c.least_limits};
}

// Heads as wide as the models', in 16 KiB of workgroup memory and in what the device has, with more rows than a workgroup.
void add_widths(std::vector<KernelCase>& cases) {
  for (const std::uint32_t head_dim : {64u, 80u, 96u, 128u, 256u}) {
    for (const bool least_limits : {false, true}) {
      AttentionCase c = {{.n_heads = 4, .n_kv_heads = 2, .head_dim = head_dim}, 23, 37, 40};
      c.least_limits = least_limits;
      cases.push_back(make_case(c, "width", false));
    }
  }
}

void add_int8(std::vector<KernelCase>& cases) {
  const auto add = [&](AttentionCase c, std::string_view what, bool quick) {
    c.int8 = true;
    cases.push_back(make_case(c, what, quick));
  };
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  add({k_smollm2, 0, 1, 1}, "first token", true);
  add({k_smollm2, 13, 5, 64}, "SmolLM2", true);
  add({k_smollm2, 0, 64, 64}, "prompt", false);
  add({{.n_heads = 32, .n_kv_heads = 32, .head_dim = 96}, 100, 3, 4}, "Phi-3", true);
  add({{.n_heads = 16, .n_kv_heads = 8, .head_dim = 128}, 130, 2, 2}, "Qwen3", false);
  add({{.n_heads = 8, .n_kv_heads = 2, .head_dim = 256}, 300, 3, 3}, "wide heads", false);
  add({{.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, 70, 3, 3}, "half a group", false);
  add({{.n_heads = 2, .n_kv_heads = 2, .head_dim = 48}, 5, 3, 3}, "a group and a half", false);
  add({{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4}, 5, 3, 3}, "smallest heads", false);
  add({k_smollm2, 90, 3, 3, Fill::normal, Fill::zeros}, "keys of zeros", false);
  add({k_smollm2, 90, 3, 3, Fill::constant, Fill::constant}, "equal large scores", false);
  add({k_smollm2, 90, 3, 3, Fill::normal, Fill::normal, Fill::outliers}, "outliers in values", false);
  add({k_smollm2, 90, 3, 3, Fill::denormals, Fill::denormals, Fill::denormals}, "denormals", false);
}

}  // namespace

std::vector<KernelCase> attention_cases() {
  constexpr AttentionShape k_smollm2 = {.n_heads = 9, .n_kv_heads = 3, .head_dim = 64};
  std::vector<KernelCase> cases = {
      make_case({k_smollm2, 0, 1, 1}, "first token", true),
      make_case({k_smollm2, 13, 5, 64}, "SmolLM2", true),
      make_case({k_smollm2, 0, 64, 64}, "prompt", false),
      make_case({{.n_heads = 16, .n_kv_heads = 1, .head_dim = 32}, 20, 2, 3}, "many heads share keys", false),
      make_case({k_smollm2, 127, 3, 3}, "block border", false),
      make_case({{.n_heads = 8, .n_kv_heads = 2, .head_dim = 128}, 59, 21, 32},
                "rows on both sides of a block", false),
      make_case({{.n_heads = 32, .n_kv_heads = 32, .head_dim = 96}, 100, 3, 4}, "Phi-3", false),
      make_case({{.n_heads = 16, .n_kv_heads = 8, .head_dim = 128}, 130, 2, 2}, "Qwen3", false),
      make_case({{.n_heads = 8, .n_kv_heads = 2, .head_dim = 256}, 300, 3, 3}, "wide heads", false),
      make_case({{.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, 70, 3, 3}, "small heads", false),
      make_case({{.n_heads = 2, .n_kv_heads = 2, .head_dim = 48}, 5, 3, 3}, "odd heads", false),
      make_case({{.n_heads = 1, .n_kv_heads = 1, .head_dim = 4}, 5, 3, 3}, "smallest heads", false),
      make_case({k_smollm2, 90, 3, 3, Fill::zeros}, "equal scores", false),
      make_case({k_smollm2, 90, 3, 3, Fill::constant, Fill::constant}, "equal large scores", false),
      make_case({k_smollm2, 90, 3, 3, Fill::outliers}, "outliers in q", false),
      make_case({k_smollm2, 90, 3, 3, Fill::normal, Fill::normal, Fill::outliers}, "outliers in values",
                false),
      make_case({k_smollm2, 90, 3, 3, Fill::denormals, Fill::denormals, Fill::denormals}, "denormals", false),
      make_case({k_smollm2, 90, 3, 3, Fill::normal, Fill::normal, Fill::alternating}, "alternating values",
                false),
  };
  for (const std::uint32_t position : {15u, 16u, 17u, 63u, 64u}) {
    cases.push_back(make_case({k_smollm2, position, 1, 1}, "border", false));
  }
  add_widths(cases);
  add_int8(cases);
  // What adapters choose from.
  for (const std::uint32_t max_rows : {16u, 70u}) {
    cases.push_back(make_case({{.n_heads = 4, .n_kv_heads = 2, .head_dim = 96}, 23, max_rows - 3, max_rows},
                              "all forms", false));
    cases.back().all_forms = true;
  }
  return cases;
}

}  // namespace ztvm::kernels
