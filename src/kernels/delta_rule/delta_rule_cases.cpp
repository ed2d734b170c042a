#include <fmt/format.h>

#include <cmath>

#include "kernels/cases.hpp"
#include "kernels/delta_rule/delta_rule.hpp"

namespace ztvm::kernels {
namespace {

struct Heads {
  std::uint32_t n_key_heads = 1;
  std::uint32_t n_value_heads = 1;
  std::uint32_t key_dim = 4;
  std::uint32_t value_dim = 4;
};

struct DeltaRuleCase {
  Heads heads;
  std::uint32_t position = 0;
  std::uint32_t n_rows = 1;
  std::uint32_t max_rows = 1;
  Fill qkv = Fill::normal;
  Fill gates = Fill::normal;
  float a_shift = 0.0f;  // added to every a: large decays quickly, very negative not at all
  std::uint32_t chunk = k_delta_rule_chunk;
  bool no_scratch = false;  // so that passes of many rows take the step form too
};

// Columns of z, b and a, in this order, and some that belong to nobody.
DeltaRuleShape shape_of(const Heads& heads) {
  const std::uint32_t n_before = 3;
  return {.n_key_heads = heads.n_key_heads,
          .n_value_heads = heads.n_value_heads,
          .key_dim = heads.key_dim,
          .value_dim = heads.value_dim,
          .x_stride = n_before + 2 * heads.n_value_heads + 1,
          .first_b = n_before,
          .first_a = n_before + heads.n_value_heads};
}

std::vector<float> make_gates(const DeltaRuleCase& c, const DeltaRuleShape& shape, Random& random) {
  std::vector<float> x = make_values(c.gates, std::size_t{c.max_rows} * shape.x_stride, random);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t column = i % shape.x_stride;
    if (column >= shape.first_a && column < shape.first_a + shape.n_value_heads) x[i] += c.a_shift;
  }
  return x;
}

void build(const DeltaRuleCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  const DeltaRuleShape shape = shape_of(c.heads);
  const std::size_t n_state = std::size_t{shape.n_value_heads} * shape.key_dim * shape.value_dim;
  // At position 0 what is in the state may be anything.
  gpu::Tensor state =
      c.position == 0 ? builder.stale_words(n_state) : builder.tensor(gpu::Dtype::f32, n_state, Fill::normal);
  state.dtype = gpu::Dtype::f32;
  // As models begin: a of 1 to 16.
  std::vector<float> a_log = make_values(Fill::uniform, shape.n_value_heads, builder.random());
  for (float& value : a_log) value = std::log(8.5f + 7.5f * value);
  delta_rule(
      recording, "delta rule",
      {.shape = shape,
       .step = builder.step({.n_rows = c.n_rows, .position = c.position}),
       .qkv = builder.tensor(builder.activation(), std::size_t{c.max_rows} * qkv_elements(shape), c.qkv),
       .x = builder.tensor(builder.activation(), make_gates(c, shape, builder.random())),
       .a_log = builder.tensor(gpu::Dtype::f32, a_log),
       .dt_bias = builder.tensor(gpu::Dtype::f32, shape.n_value_heads, Fill::normal),
       .state = state,
       .out = builder.tensor(gpu::Dtype::f32, std::size_t{c.max_rows} * shape.n_value_heads * shape.value_dim,
                             Fill::normal)});
}

std::string_view form_of(const DeltaRuleCase& c) {
  if (c.no_scratch) return ", no scratch";
  return c.chunk == k_delta_rule_chunk ? "" : ", small chunks";
}

KernelCase make_case(const DeltaRuleCase& c, std::string_view what, bool quick) {
  return {.kernel = "delta_rule",
          .name = fmt::format("{}: {}/{} heads of {} and {}, position {}, {} of {} rows{}", what,
                              c.heads.n_key_heads, c.heads.n_value_heads, c.heads.key_dim, c.heads.value_dim,
                              c.position, c.n_rows, c.max_rows, form_of(c)),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .max_rows = c.max_rows,
          .quick = quick};
}

// Values that rounding or a careless formula would spoil, over more than one chunk of rows.
void add_hard_values(std::vector<KernelCase>& cases) {
  const auto add = [&](Fill qkv, Fill gates, float a_shift, std::string_view what) {
    for (const std::uint32_t max_rows : {5u, 70u}) {
      cases.push_back(make_case({{2, 4, 32, 32}, 9, max_rows, max_rows, qkv, gates, a_shift}, what, false));
    }
  };
  add(Fill::zeros, Fill::normal, -6.0f, "zeros");  // the norms' eps alone
  add(Fill::constant, Fill::normal, -12.0f, "one key");
  add(Fill::outliers, Fill::normal, -3.0f, "outliers");
  add(Fill::denormals, Fill::normal, -3.0f, "denormals");
  add(Fill::constant, Fill::outliers, -2000.0f, "one key, all or nothing");
  add(Fill::normal, Fill::normal, -200.0f, "no decay");
  add(Fill::normal, Fill::normal, -9.0f, "slow decay");
  add(Fill::normal, Fill::normal, 200.0f, "nothing kept");
  add(Fill::normal, Fill::outliers, -3.0f, "outliers in gates");
  add(Fill::alternating, Fill::zeros, -5.0f, "alternating");
}

}  // namespace

std::vector<KernelCase> delta_rule_cases() {
  constexpr Heads k_qwen35 = {16, 32, 128, 128};  // Qwen3.5-4B, and Qwen3.6
  constexpr Heads k_small = {2, 4, 16, 24};
  std::vector<KernelCase> cases = {
      make_case({k_qwen35, 0, 1, 1}, "Qwen3.5", true),
      make_case({k_qwen35, 700, 1, 1, Fill::normal, Fill::normal, -4.0f}, "Qwen3.5", false),
      make_case({k_qwen35, 0, 33, 64, Fill::normal, Fill::normal, -4.0f}, "Qwen3.5", false),
      make_case({k_small, 3, 2, 2}, "small", true),
      make_case({{3, 3, 20, 36}, 3, 3, 3}, "odd", false),
      make_case({{3, 9, 36, 8}, 3, 3, 3}, "three heads a key head", false),
      make_case({{1, 5, 64, 100}, 3, 3, 3}, "one key head", false),
      make_case({{1, 1, 4, 4}, 3, 3, 3}, "smallest", false),
      make_case({{1, 2, 256, 64}, 3, 3, 3}, "wide keys", false),
      make_case({{1, 2, 256, 64}, 3, 35, 70}, "wide keys", false),
      make_case({{3, 9, 36, 8}, 3, 33, 70}, "three heads a key head", false),
      make_case({{1, 1, 4, 4}, 3, 70, 70}, "smallest", false),
  };
  // Tails of chunks; the first pass and a later one.
  const auto add_rows = [&](std::uint32_t position, std::initializer_list<std::uint32_t> counts) {
    for (const std::uint32_t n_rows : counts) {
      cases.push_back(make_case({k_small, position, n_rows, 128, Fill::normal, Fill::normal, -4.0f}, "rows",
                                n_rows == 33 && position != 0));
    }
  };
  add_rows(0, {1, 33, 64});
  add_rows(5, {1, 2, 31, 32, 33, 64, 127});
  for (const std::uint32_t n_rows : {33u, 70u}) {
    DeltaRuleCase c = {k_small, 5, n_rows, 70, Fill::normal, Fill::normal, -4.0f};
    c.chunk = 16;
    cases.push_back(make_case(c, "rows", n_rows == 33));
    c.chunk = k_delta_rule_chunk;
    c.no_scratch = true;
    cases.push_back(make_case(c, "rows", false));
  }
  add_hard_values(cases);
  return cases;
}

}  // namespace ztvm::kernels
