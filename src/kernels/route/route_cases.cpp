#include <fmt/format.h>

#include <limits>

#include "kernels/cases.hpp"
#include "kernels/route/route.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

// A logit that is set in every row after the fill.
struct Spike {
  std::uint32_t expert = 0;
  float value = 0.0f;
};

struct RouteCase {
  std::uint32_t n_experts = 0;
  std::uint32_t top_k = 0;
  std::uint32_t n_extra = 0;  // columns after the experts: the shared expert's gate
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill logits = Fill::normal;
  std::vector<Spike> spikes = {};
};

void build(const RouteCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const std::uint32_t stride = c.n_experts + c.n_extra;
  std::vector<float> logits = make_values(c.logits, std::size_t{c.max_rows} * stride, builder.random());
  for (std::uint32_t row = 0; row < c.max_rows; ++row) {
    for (const Spike& spike : c.spikes) logits[std::size_t{row} * stride + spike.expert] = spike.value;
    for (std::uint32_t i = 0; i < c.n_extra; ++i) logits[std::size_t{row} * stride + c.n_experts + i] = 1e9f;
  }
  const std::size_t n_chosen = std::size_t{c.max_rows} * c.top_k;
  route(recording, "route",
        {.n_experts = c.n_experts,
         .top_k = c.top_k,
         .stride = stride,
         .step = builder.step({.n_rows = c.n_rows}),
         .logits = builder.tensor(gpu::Dtype::f32, logits),
         .ids = builder.stale_words(n_chosen),
         .weights = builder.tensor(gpu::Dtype::f32, n_chosen, Fill::uniform)});
}

KernelCase make_case(const RouteCase& c, std::string_view what, bool quick) {
  return {.kernel = "route",
          .name = fmt::format("{}: {} of {} experts, {} of {} rows", what, c.top_k, c.n_experts, c.n_rows,
                              c.max_rows),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

}  // namespace

std::vector<KernelCase> route_cases() {
  std::vector<KernelCase> cases = {
      make_case({.n_experts = 256, .top_k = 8, .n_extra = 1}, "Qwen3.6", true),
      make_case({.n_experts = 256, .top_k = 8, .n_extra = 1, .n_rows = 63, .max_rows = 64}, "Qwen3.6", true),
      make_case({.n_experts = 8, .top_k = 2, .n_extra = 1, .n_rows = 5, .max_rows = 9}, "small", false),
      make_case({.n_experts = 5, .top_k = 3, .n_rows = 9, .max_rows = 9}, "odd", false),
      make_case({.n_experts = 1, .top_k = 1, .n_rows = 3, .max_rows = 3}, "one", false),
      make_case({.n_experts = 16, .top_k = 16, .n_rows = 2, .max_rows = 2}, "all", false),
      make_case({.n_experts = 257, .top_k = 7, .n_extra = 3, .n_rows = 4, .max_rows = 4}, "over a workgroup",
                false),
      make_case({.n_experts = 1024, .top_k = 16, .n_extra = 1, .n_rows = 3, .max_rows = 3}, "largest", false),
  };
  const auto add = [&](Fill fill, std::vector<Spike> spikes, std::string_view what) {
    RouteCase c = {
        .n_experts = 70, .top_k = 6, .n_extra = 1, .n_rows = 4, .max_rows = 4, .logits = fill, .spikes = {}};
    c.spikes = std::move(spikes);
    cases.push_back(make_case(c, what, false));
  };
  add(Fill::constant, {}, "equal");
  add(Fill::integers, {}, "ties");
  add(Fill::zeros, {{69, 0.0f}, {0, -0.0f}, {1, 0.0f}, {2, -0.0f}}, "zeros of both signs");
  add(Fill::outliers, {}, "outliers");
  add(Fill::denormals, {}, "denormals");
  add(Fill::normal, {{3, 3.4e38f}, {4, 3.4e38f}, {50, 3.3e38f}, {51, -3.4e38f}}, "extremes");
  add(Fill::normal, {{0, k_nan}, {7, k_infinity}, {8, -k_infinity}, {60, -k_nan}, {69, 9.0f}}, "not finite");
  // Fewer finite logits than are chosen, then none: ids stay below n_experts and differ.
  RouteCase few = {.n_experts = 5, .top_k = 4, .n_rows = 2, .max_rows = 2};
  few.spikes = {{0, k_nan}, {1, k_infinity}, {2, -1e38f}, {3, k_nan}};
  cases.push_back(make_case(few, "two finite", false));
  few.spikes = {{0, k_nan}, {1, k_infinity}, {2, -k_infinity}, {3, k_nan}, {4, -k_nan}};
  cases.push_back(make_case(few, "nothing finite", true));
  return cases;
}

}  // namespace ztvm::kernels
