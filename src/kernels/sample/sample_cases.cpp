#include <fmt/format.h>

#include <limits>

#include "kernels/cases.hpp"
#include "kernels/sample/sample.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

// A logit that is set after the fill.
struct Spike {
  std::uint32_t index = 0;
  float value = 0.0f;
};

struct SampleCase {
  std::uint32_t n_valid = 0;
  std::uint32_t n_padded = 0;
  Step step;  // the sampler's fields
  Fill logits = Fill::normal;
  float spread = 4.0f;  // factor of the fill
  std::vector<Spike> spikes = {};
};

void build(const SampleCase& c, CaseBuilder& builder, gpu::Recording& recording) {
  std::vector<float> logits = make_values(c.logits, c.n_padded, builder.random());
  for (float& logit : logits) logit *= c.spread;
  for (const Spike& spike : c.spikes) logits[spike.index] = spike.value;
  Step step = c.step;
  step.n_rows = 1;
  step.n_not_finite = 3;
  step.seed_low = static_cast<std::uint32_t>(builder.random().next());
  step.seed_high = static_cast<std::uint32_t>(builder.random().next());
  const SampleSizes sizes = sample_sizes(c.n_valid);
  sample(recording, {.n_valid = c.n_valid,
                     .logits = builder.tensor(gpu::Dtype::f32, logits),
                     .maxima = builder.stale_words(sizes.maxima),
                     .bounds = builder.tensor(gpu::Dtype::f32, 2, Fill::normal),
                     .weights = builder.tensor(gpu::Dtype::f32, sizes.candidates, Fill::uniform),
                     .indices = builder.stale_words(sizes.candidates),
                     .counts = builder.stale_words(sizes.counts),
                     .masses = builder.tensor(gpu::Dtype::f32, sizes.masses, Fill::uniform),
                     .step = builder.step(step)});
}

KernelCase make_case(std::string_view what, const SampleCase& c, bool quick = false) {
  return {.kernel = "sample",
          .name = fmt::format("{}: {} of {} logits, temperature {}, top-k {}, top-p {}, min-p {}", what,
                              c.n_valid, c.n_padded, c.step.temperature, c.step.top_k, c.step.top_p,
                              c.step.min_p),
          .build = [c](CaseBuilder& builder, gpu::Recording& recording) { build(c, builder, recording); },
          .quick = quick};
}

constexpr Step filters(float temperature, std::uint32_t top_k = 0, float top_p = 1.0f, float min_p = 0.0f) {
  return {.temperature = temperature, .top_p = top_p, .min_p = min_p, .top_k = top_k};
}

void add_filters(std::vector<KernelCase>& cases) {
  const auto add = [&](std::string_view what, const Step& step, bool quick = false) {
    cases.push_back(make_case(what, {.n_valid = 49152, .n_padded = 49152, .step = step}, quick));
  };
  add("plain", filters(1.0f));
  add("usual", filters(0.8f, 40, 0.95f, 0.05f), true);
  add("top-k", filters(1.0f, 50));
  add("top-k of more than the slices", filters(1.0f, 2000));
  add("top-k of all", filters(1.0f, 49152));
  add("top-k beyond all", filters(1.0f, 49153));
  add("top-k of one", filters(1.0f, 1));
  add("top-p", filters(1.0f, 0, 0.9f));
  add("wide top-p", filters(1.5f, 0, 0.999f));
  add("tiny top-p", filters(1.0f, 0, 1e-6f));
  add("min-p", filters(1.0f, 0, 1.0f, 0.1f));
  add("min-p of one", filters(1.0f, 0, 1.0f, 1.0f));
  add("cold", filters(0.01f));
  add("coldest", filters(1e-30f, 0, 0.9f));
  add("hot", filters(100.0f, 0, 0.9f));
  add("greedy", filters(0.0f, 40, 0.9f, 0.1f));
}

}  // namespace

std::vector<KernelCase> sample_cases() {
  std::vector<KernelCase> cases;
  add_filters(cases);
  const Step usual = filters(0.8f, 40, 0.95f, 0.05f);
  const auto add = [&](std::string_view what, const SampleCase& c, bool quick = false) {
    cases.push_back(make_case(what, c, quick));
  };
  add("padded", {.n_valid = 1000, .n_padded = 1024, .step = usual, .spikes = {{1010, 90.0f}}}, true);
  add("not finite",
      {.n_valid = 1000,
       .n_padded = 1000,
       .step = usual,
       .spikes = {{0, k_nan}, {7, k_infinity}, {8, -k_infinity}, {600, -k_nan}}},
      true);
  add("largest vocabulary, flat",
      {.n_valid = 248'320, .n_padded = 248'320, .step = filters(5.0f, 200'000, 0.9999f)});
  add("largest vocabulary", {.n_valid = 248'320, .n_padded = 248'320, .step = usual});
  add("one", {.n_valid = 1, .n_padded = 1, .step = usual});
  add("a few", {.n_valid = 5, .n_padded = 8, .step = filters(1.0f, 3)});
  add("over a slice", {.n_valid = 65, .n_padded = 65, .step = usual, .spikes = {{64, 20.0f}}});
  add("equal", {.n_valid = 600, .n_padded = 600, .step = filters(1.0f, 3), .logits = Fill::constant});
  add("equal, greedy", {.n_valid = 600, .n_padded = 600, .step = filters(0.0f), .logits = Fill::constant});
  add("outliers", {.n_valid = 600, .n_padded = 600, .step = filters(1.0f), .logits = Fill::outliers});
  add("extremes", {.n_valid = 600, .n_padded = 600, .step = usual, .spikes = {{3, 3.4e38f}, {5, -3.4e38f}}});
  add("nothing finite",
      {.n_valid = 2, .n_padded = 8, .step = usual, .spikes = {{0, k_nan}, {1, -k_infinity}}});
  return cases;
}

}  // namespace ztvm::kernels
