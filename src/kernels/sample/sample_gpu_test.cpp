#include "kernels/sample/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "gpu/executor.hpp"
#include "kernels/advance/advance.hpp"
#include "kernels/case_builder.hpp"
#include "kernels/test_device.hpp"

namespace ztvm::kernels {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

// A sampler over fixed logits, followed by advance, on any executor's device.
class Sampler {
 public:
  Sampler(gpu::Device& device, const gpu::Target& target, std::vector<float> logits)
      : device_(device), builder_(device, target, 1), recording_{.target = target, .max_rows = 1, .ops = {}} {
    const auto n = static_cast<std::uint32_t>(logits.size());
    const SampleSizes sizes = sample_sizes(n);
    step_ = builder_.step(Step{.n_rows = 1});
    sample(recording_, {.n_valid = n,
                        .logits = builder_.tensor(gpu::Dtype::f32, logits),
                        .maxima = builder_.stale_words(sizes.maxima),
                        .bounds = builder_.tensor(gpu::Dtype::f32, 2, Fill::zeros),
                        .weights = builder_.tensor(gpu::Dtype::f32, sizes.candidates, Fill::uniform),
                        .indices = builder_.stale_words(sizes.candidates),
                        .counts = builder_.stale_words(sizes.counts),
                        .masses = builder_.tensor(gpu::Dtype::f32, sizes.masses, Fill::uniform),
                        .step = step_});
    advance(recording_, {.step = step_,
                         .tokens = builder_.stale_words(1),
                         .seen = builder_.words(std::vector<std::uint32_t>(n))});
  }

  // The tokens of `n_draws` draws in a row, the first with number step.n_chosen.
  std::vector<std::uint32_t> draw(gpu::Executor& executor, Step step, std::uint32_t n_draws) {
    step.n_rows = 1;
    const gpu::RecordingId id = executor.add(recording_);
    device_.write(step_.buffer, 0, as_bytes(std::span(&step, 1)));
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t i = 0; i < n_draws; ++i) {
      executor.run(id, 1);
      if (i % k_ring_tokens + 1 < k_ring_tokens && i + 1 < n_draws) continue;
      EXPECT_TRUE(executor.flush());
      const auto bytes = gpu::read_now(device_, step_.buffer, 0, sizeof(Step));
      if (!bytes) return tokens;
      after_ = load_as<Step>(*bytes, 0);
      for (auto j = static_cast<std::uint32_t>(tokens.size()); j <= i; ++j) {
        tokens.push_back(after_.ring[(step.n_chosen + j) % k_ring_tokens]);
      }
    }
    return tokens;
  }
  const Step& after() const { return after_; }

 private:
  gpu::Device& device_;
  CaseBuilder builder_;
  gpu::Recording recording_;
  gpu::Tensor step_;
  Step after_;
};

std::vector<std::uint32_t> draw_on_gpu(const gpu::Target& target, const std::vector<float>& logits,
                                       const Step& step, std::uint32_t n_draws, Step* after = nullptr) {
  gpu::Device& device = *test_device();
  // One for all draws, because it keeps the pipelines.
  static const std::unique_ptr<gpu::Executor> executor = gpu::make_gpu_executor(device);
  Sampler sampler(device, target, logits);
  const auto tokens = sampler.draw(*executor, step, n_draws);
  if (after != nullptr) *after = sampler.after();
  return tokens;
}

std::vector<std::uint32_t> draw_on_host(const std::vector<float>& logits, const Step& step,
                                        std::uint32_t n_draws) {
  gpu::HostDevice device;
  Sampler sampler(device, {.cpu = true}, logits);
  const auto executor = gpu::make_reference_executor(device);
  return sampler.draw(*executor, step, n_draws);
}

// The kernel sets that differ for a sampler, which has no activations.
std::vector<gpu::Target> sampler_targets() {
  std::vector<gpu::Target> targets = test_targets(*test_device());
  std::erase_if(targets, [](const gpu::Target& target) { return target.f16; });
  return targets;
}

// The distribution after the filters, straight from its definition, and how far the nearest decision of a filter is
// from going the other way (relative to the total, or to the limit).
struct Distribution {
  std::vector<double> p;
  double margin = 1.0;
};

Distribution distribution(const std::vector<float>& logits, const Step& step) {
  const std::size_t n = logits.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  std::vector<double> w(n);
  for (std::size_t i = 0; i < n; ++i)
    w[i] = std::exp((double{logits[order[i]]} - logits[order[0]]) / step.temperature);
  std::size_t n_kept = step.top_k == 0 ? n : std::min<std::size_t>(step.top_k, n);
  Distribution d{.p = std::vector<double>(n)};
  if (n_kept < n) d.margin = std::min(d.margin, 1.0 - w[n_kept] / w[n_kept - 1]);
  const double total = std::accumulate(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(n_kept), 0.0);
  double mass = 0.0;
  for (std::size_t i = 0; i < n_kept && step.top_p < 1.0f; ++i) {
    mass += w[i];
    d.margin = std::min(d.margin, std::abs(mass / total - step.top_p));
    if (mass >= step.top_p * total) n_kept = i + 1;
  }
  for (std::size_t i = 0; i < n_kept; ++i) {
    if (step.min_p > 0.0f) d.margin = std::min(d.margin, std::abs(w[i] / step.min_p - 1.0));
    if (w[i] >= step.min_p) d.p[order[i]] = w[i];
  }
  const double kept = std::accumulate(d.p.begin(), d.p.end(), 0.0);
  for (double& p : d.p) p /= kept;
  return d;
}

// The token that `step` draws from `d`, and the distance of its number to the token's ends.
std::pair<std::uint32_t, double> draw_from(const Distribution& d, const Step& step) {
  const double u = sample_random(step);
  double running = 0.0;
  for (std::uint32_t i = 0; i < d.p.size(); ++i) {
    if (u < running + d.p[i]) return {i, std::min(u - running, running + d.p[i] - u)};
    running += d.p[i];
  }
  return {0, 0.0};
}

TEST(Sample, RandomNumbersAreSpread) {
  double sum = 0.0;
  std::set<float> distinct;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const float u = sample_random(Step{.n_chosen = i, .seed_low = 1});
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    sum += u;
    distinct.insert(u);
  }
  EXPECT_NEAR(sum / 10000, 0.5, 4 * std::sqrt(1.0 / 12 / 10000));
  EXPECT_GT(distinct.size(), 9980u);
  EXPECT_NE(sample_random(Step{.seed_low = 1}), sample_random(Step{.seed_low = 2}));
  EXPECT_NE(sample_random(Step{.seed_high = 1}), sample_random(Step{.seed_high = 2}));
}

// Equal to the definition wherever neither a filter nor the draw is within 1e-4 of deciding otherwise, which is
// far more than f32 rounding (weights are within 2^-18) can move; that must be nearly everywhere.
TEST(Sample, ChoosesWhatTheDefinitionChooses) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  Random random(7);
  std::size_t n_compared = 0;
  constexpr std::size_t k_runs = 60;
  for (std::size_t run = 0; run < k_runs; ++run) {
    std::vector<float> logits = make_values(Fill::normal, 1000, random);
    for (float& logit : logits) logit *= 3.0f;
    const Step step = {.n_chosen = random.below(100000),
                       .temperature = 0.3f + random.uniform(),
                       .top_p = run % 2 == 0 ? 1.0f : 0.5f + 0.49f * random.uniform(),
                       .min_p = run % 3 == 0 ? 0.0f : 0.1f * random.uniform(),
                       .top_k = run % 5 == 0 ? 0 : 1 + random.below(100),
                       .seed_low = static_cast<std::uint32_t>(random.next())};
    const Distribution d = distribution(logits, step);
    const auto [choice, margin] = draw_from(d, step);
    if (std::min(d.margin, margin) < 1e-4) continue;
    ++n_compared;
    EXPECT_EQ(draw_on_host(logits, step, 1)[0], choice) << run;
    for (const gpu::Target& target : sampler_targets()) {
      EXPECT_EQ(draw_on_gpu(target, logits, step, 1)[0], choice) << run << ", " << gpu::describe(target);
    }
  }
  EXPECT_GE(n_compared, k_runs * 8 / 10);
}

void expect_distributed(const std::vector<std::uint32_t>& tokens, const Distribution& d) {
  std::vector<double> counts(d.p.size());
  for (const std::uint32_t token : tokens) counts[token] += 1.0;
  double chi_squared = 0.0;
  double freedom = -1.0;
  for (std::size_t i = 0; i < d.p.size(); ++i) {
    const double expected = d.p[i] * static_cast<double>(tokens.size());
    if (expected == 0.0) {
      EXPECT_EQ(counts[i], 0.0) << "token " << i << " is filtered out";
      continue;
    }
    EXPECT_GE(expected, 5.0) << "the test needs more draws";
    chi_squared += (counts[i] - expected) * (counts[i] - expected) / expected;
    freedom += 1.0;
  }
  // The 99.99 % quantile of chi-squared (Wilson and Hilferty 1931).
  const double limit =
      freedom * std::pow(1.0 - 2.0 / (9.0 * freedom) + 3.719 * std::sqrt(2.0 / (9.0 * freedom)), 3.0);
  EXPECT_LT(chi_squared, limit) << "with " << freedom << " degrees of freedom";
}

TEST(Sample, DrawsAreDistributedAsTheWeights) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  std::vector<float> logits(40);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 1.3f * std::sin(static_cast<float>(i * i));
  const Step filtered = {.temperature = 0.9f, .top_p = 0.9f, .min_p = 0.15f, .top_k = 25, .seed_low = 5};
  const Step plain = {.temperature = 1.0f, .seed_high = 9};
  expect_distributed(draw_on_host(logits, plain, 10000), distribution(logits, plain));
  expect_distributed(draw_on_host(logits, filtered, 10000), distribution(logits, filtered));
  const gpu::Target target = gpu::choose_target(test_device()->caps());
  expect_distributed(draw_on_gpu(target, logits, filtered, 5000), distribution(logits, filtered));
}

TEST(Sample, ARunIsReproducible) {
  ASSERT_NE(test_device(), nullptr) << "no adapter is found";
  Random random(3);
  const std::vector<float> logits = make_values(Fill::normal, 5000, random);
  const Step step = {.temperature = 1.0f, .top_p = 0.95f, .seed_low = 11};
  for (const gpu::Target& target : sampler_targets()) {
    const auto first = draw_on_gpu(target, logits, step, 100);
    EXPECT_EQ(draw_on_gpu(target, logits, step, 100), first);
    Step later = step;
    later.n_chosen = 40;
    const auto rest = draw_on_gpu(target, logits, later, 60);
    EXPECT_EQ(rest, std::vector(first.begin() + 40, first.end())) << "a continued chat replays";
    Step other = step;
    other.seed_low = 12;
    EXPECT_NE(draw_on_gpu(target, logits, other, 100), first);
  }
}

class SampleLimits : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(test_device(), nullptr) << "no adapter is found";
    targets_ = sampler_targets();
  }
  // All tokens that 64 draws give, with every kernel set and the oracle.
  std::set<std::uint32_t> drawn(const std::vector<float>& logits, const Step& step) {
    const auto host = draw_on_host(logits, step, k_ring_tokens);
    std::set<std::uint32_t> tokens(host.begin(), host.end());
    for (const gpu::Target& target : targets_) {
      const auto more = draw_on_gpu(target, logits, step, k_ring_tokens);
      tokens.insert(more.begin(), more.end());
    }
    return tokens;
  }

  std::vector<gpu::Target> targets_;
  const std::vector<float> logits_ = {std::log(0.2f), std::log(0.5f), std::log(0.3f)};
  const std::set<std::uint32_t> largest_ = {1};
};

TEST_F(SampleLimits, ThatLeaveTheLargest) {
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_k = 1}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 1e-6f}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .min_p = 1.0f}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 0.0f}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = -0.0f}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 1e-30f}), largest_);
}

TEST_F(SampleLimits, ThatLeaveAll) {
  const std::set<std::uint32_t> all = {0, 1, 2};
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f}), all);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_k = 3}), all);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_k = 4}), all);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_k = 0xFFFFFFFFu}), all);
  EXPECT_EQ(drawn(logits_, {.temperature = 100.0f}), all);
}

TEST_F(SampleLimits, TopPKeepsTheTokenThatReachesIt) {
  const std::set<std::uint32_t> two = {1, 2};
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.49f}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.51f}), two);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.79f}), two);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.81f}).size(), 3u);
  // Of the two that top-k keeps, the first has 5/8.
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.62f, .top_k = 2}), largest_);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .top_p = 0.63f, .top_k = 2}), two);
}

TEST_F(SampleLimits, MinPIsRelativeToTheLargest) {
  const std::set<std::uint32_t> two = {1, 2};
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .min_p = 0.39f}).size(), 3u);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .min_p = 0.41f}), two);
  EXPECT_EQ(drawn(logits_, {.temperature = 1.0f, .min_p = 0.61f}), largest_);
}

TEST_F(SampleLimits, TiesAreAllKept) {
  const std::vector<float> ties = {2.0f, 1.0f, 2.0f, 2.0f, 0.0f};
  const std::set<std::uint32_t> three = {0, 2, 3};
  EXPECT_EQ(drawn(ties, {.temperature = 1.0f, .top_k = 1}), three);
  EXPECT_EQ(drawn(ties, {.temperature = 1.0f, .top_p = 0.1f}), three);
  EXPECT_EQ(drawn(ties, {.temperature = 0.0f}), std::set<std::uint32_t>{0})
      << "argmax takes the lowest index";
}

TEST_F(SampleLimits, WhatIsNotFiniteIsNeverChosen) {
  const std::vector<float> logits = {k_nan, 0.0f, k_infinity, 0.0f, -k_infinity};
  const std::set<std::uint32_t> finite = {1, 3};
  EXPECT_EQ(drawn(logits, {.temperature = 1.0f}), finite);
  Step after;
  draw_on_gpu(targets_[0], logits, {.n_not_finite = 2, .temperature = 1.0f}, 4, &after);
  EXPECT_EQ(after.n_not_finite, 14u);
  EXPECT_EQ(drawn({k_nan, -k_infinity}, {.temperature = 1.0f}), std::set<std::uint32_t>{0});
}

}  // namespace
}  // namespace ztvm::kernels
