#include <fmt/format.h>

#include "kernels/cases.hpp"
#include "kernels/group_experts/group_experts.hpp"

namespace ztvm::kernels {
namespace {

struct GroupCase {
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  std::uint32_t n_candidates = 0;  // experts that rows choose from; 0: all
};

void build(const GroupCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::uint32_t n_candidates = c.n_candidates == 0 ? c.n_experts : c.n_candidates;
  group_experts(recording, "group",
                {.n_experts = c.n_experts,
                 .top_k = c.top_k,
                 .step = builder.step({.n_rows = c.n_rows}),
                 .ids = builder.expert_ids(c.max_rows, c.top_k, n_candidates),
                 .offsets = builder.stale_words(c.n_experts + 1),
                 .order = builder.stale_words(std::size_t{c.max_rows} * c.top_k)});
}

KernelCase make_case(const GroupCase& c, std::string_view what, bool quick) {
  return {.kernel = "group_experts",
          .name = fmt::format("{}: {} of {} experts, {} of {} rows", what, c.top_k, c.n_experts, c.n_rows,
                              c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> group_experts_cases() {
  return {
      make_case({.n_experts = 256, .top_k = 8, .n_rows = 64, .max_rows = 64}, "Qwen3.6", true),
      make_case({.n_experts = 256, .top_k = 8, .n_rows = 37, .max_rows = 64}, "Qwen3.6", true),
      make_case({.n_experts = 256, .top_k = 8, .n_rows = 512, .max_rows = 512}, "many rows", false),
      make_case({.n_experts = 8, .top_k = 2, .n_rows = 1, .max_rows = 8}, "one row", false),
      make_case({.n_experts = 5, .top_k = 3, .n_rows = 9, .max_rows = 11}, "odd", false),
      make_case({.n_experts = 1, .top_k = 1, .n_rows = 70, .max_rows = 70}, "one expert", false),
      make_case({.n_experts = 16, .top_k = 16, .n_rows = 5, .max_rows = 5}, "all", false),
      make_case({.n_experts = 1024, .top_k = 16, .n_rows = 33, .max_rows = 33}, "most experts", false),
      make_case({.n_experts = 64, .top_k = 4, .n_rows = 50, .max_rows = 50, .n_candidates = 4},
                "the first take all", false),
      make_case({.n_experts = 64, .top_k = 4, .n_rows = 50, .max_rows = 50, .n_candidates = 7}, "crowded",
                false),
  };
}

}  // namespace ztvm::kernels
