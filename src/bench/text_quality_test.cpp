#include "bench/text_quality.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden_model.hpp"

namespace ztvm::bench {
namespace {

using Ids = std::vector<std::uint32_t>;

tests::OpenModel tiny(model::KvType kv = model::KvType::floats, std::uint32_t max_rows = 8) {
  return tests::open_model(tests::k_tiny_llama, {.context = 64, .max_rows = max_rows, .kv = kv});
}

Ids some_ids(std::uint32_t n) {
  Ids ids;
  for (std::uint32_t i = 0; i < n; ++i) ids.push_back(3 + i * i * 37 % 500);
  return ids;
}

double surprise(std::span<const float> logits, std::uint32_t id) {
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(double{logit} - logits[id]);
  return std::log(sum);
}

// Each window is what the logits of its beginnings say, each computed anew.
TEST(TextQuality, IsTheMeanOverEveryWindowsTokens) {
  const auto model = tiny();
  const Ids ids = some_ids(23);
  double sum = 0.0;
  const std::pair<std::size_t, std::size_t> windows[] = {{0, 10}, {10, 20}, {20, 23}};
  for (const auto& [first, last] : windows) {
    for (std::size_t next = first + 1; next < last; ++next) {
      const auto logits = model.engine->compute_logits(std::span(ids).subspan(first, next - first), {});
      ASSERT_TRUE(logits) << logits.error().text;
      sum += surprise(*logits, ids[next]);
    }
  }
  for (const std::uint32_t max_rows : {0u, 1u, 3u}) {
    const auto quality =
        measure_quality({.engine = model.engine.get(), .max_rows = max_rows}, {}, ids, {.window = 10});
    ASSERT_TRUE(quality) << quality.error().text;
    EXPECT_EQ(quality->n_windows, 3u);
    EXPECT_EQ(quality->measured.surprise.n(), 20u);
    EXPECT_EQ(quality->divergence.divergence.n(), 0u);
    EXPECT_NEAR(quality->measured.perplexity(), std::exp(sum / 20.0), 1e-3) << max_rows;
  }
}

TEST(TextQuality, OfAModelAgainstItselfDoesNotDiffer) {
  const auto model = tiny();
  const ScoredEngine same = {.engine = model.engine.get()};
  const auto quality = measure_quality(same, same, some_ids(20), {.window = 16});
  ASSERT_TRUE(quality) << quality.error().text;
  EXPECT_EQ(quality->divergence.divergence.largest(), 0.0);
  EXPECT_EQ(quality->divergence.agreement.value(), 1.0);
  EXPECT_EQ(quality->base.perplexity(), quality->measured.perplexity());
}

TEST(TextQuality, SeesAnInt8Cache) {
  const auto base = tiny();
  const auto int8 = tiny(model::KvType::int8);
  std::uint32_t n_told = 0;
  const auto quality = measure_quality(
      {.engine = int8.engine.get()}, {.engine = base.engine.get()}, some_ids(60),
      {.window = 30, .on_window = [&](const TextQuality& so_far) { EXPECT_EQ(so_far.n_windows, ++n_told); }});
  ASSERT_TRUE(quality) << quality.error().text;
  EXPECT_EQ(n_told, 2u);
  EXPECT_GT(quality->divergence.divergence.value(), 1e-9);
  EXPECT_LT(quality->divergence.divergence.value(), 1e-3);
  EXPECT_NEAR(quality->divergence.surprise_ratio.value(),
              std::log(quality->measured.perplexity() / quality->base.perplexity()), 1e-9);
}

TEST(TextQuality, TellsWhyNot) {
  const auto model = tiny();
  const auto problem = [&](const Ids& ids, std::uint32_t window) {
    const auto quality = measure_quality({.engine = model.engine.get()}, {}, ids, {.window = window});
    return quality ? "no error" : quality.error().text;
  };
  EXPECT_EQ(problem({5}, 10), "The text has 1 tokens, but at least 2 are needed to predict one.");
  EXPECT_NE(problem(some_ids(80), 80).find("64"), std::string::npos) << problem(some_ids(80), 80);
}

}  // namespace
}  // namespace ztvm::bench
