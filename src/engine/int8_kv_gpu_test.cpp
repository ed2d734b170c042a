// A KV cache of int8 in the tiny model of every family: near the goldens of transformers, on the oracles and op by op
// on the adapter; whatever the chunks; with prefix reuse; and smaller.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/family_golden.hpp"

namespace ztvm::engine {
namespace {

using Ids = std::vector<std::uint32_t>;
using model::KvType;

// Bounds of docs/numerics.md: of the logits in their standard deviations, and of the golden margin of a greedy step.
constexpr double k_logits = 0.1;
constexpr double k_margin = 0.3;

class Int8Kv : public testing::TestWithParam<const char*> {
 protected:
  std::vector<tests::GoldenPrompt> prompts_ = tests::golden_prompts(GetParam());

  static tests::OpenModel open(tests::OpenOptions options = {}) {
    options.kv = KvType::int8;
    return tests::open_model(tests::family_model(GetParam()), options);
  }
};
INSTANTIATE_TEST_SUITE_P(Families, Int8Kv,
                         testing::Values("llama", "phi3", "qwen3", "qwen35", "qwen36", "qwen36q3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Int8Kv, LogitsAndGreedyIdsOnTheOracles) {
  const auto model = open();
  for (const tests::GoldenPrompt& prompt : prompts_) {
    SCOPED_TRACE(prompt.name);
    const auto logits = model.engine->compute_logits(prompt.ids, {});
    ASSERT_TRUE(logits) << logits.error().text;
    const double difference =
        tests::largest_difference(*logits, prompt.logits) / tests::deviation(prompt.logits);
    EXPECT_LT(difference, k_logits);
    RecordProperty(prompt.name, std::to_string(difference));
    const auto got =
        tests::generate(*model.engine, prompt.ids, {.sampler = {}, .max_tokens = 16, .ignore_eos = true});
    Ids tokens = prompt.tokens;
    tokens.resize(16);
    tests::expect_greedy(got.ids, tokens, prompt.margins, k_margin);
  }
}

// What the rounding changes is seen: the option does something.
TEST_P(Int8Kv, IsNotTheFloatCache) {
  const tests::GoldenPrompt& prompt = prompts_.at(2);
  const auto logits = open().engine->compute_logits(prompt.ids, {});
  ASSERT_TRUE(logits) << logits.error().text;
  EXPECT_GT(tests::largest_difference(*logits, prompt.logits), 1e-5 * tests::deviation(prompt.logits));
}

TEST_P(Int8Kv, EveryOpAgrees) {
  for (const char* set : {"cpu f32", "gpu f32", "gpu f16 subgroups"}) {
    SCOPED_TRACE(set);
    gpu::LockstepReport report;
    const auto model =
        open({.backend = Backend::lockstep, .target = *gpu::parse_target(set), .report = &report});
    tests::generate(*model.engine, prompts_.at(2).ids, {.sampler = {}, .max_tokens = 2, .ignore_eos = true});
    EXPECT_FALSE(report.first_mismatch) << gpu::describe(*report.first_mismatch);
    EXPECT_GE(report.n_ops, 50u);
  }
}

TEST_P(Int8Kv, ChunksDoNotChangeTheResult) {
  const Ids& ids = prompts_.at(5).ids;
  ASSERT_EQ(ids.size(), 131u);
  std::vector<float> expected;
  for (const std::uint32_t max_rows : {1u, 16u, 130u}) {
    const auto logits = open({.max_rows = max_rows}).engine->compute_logits(ids, {});
    ASSERT_TRUE(logits) << logits.error().text;
    if (expected.empty()) expected = *logits;
    // Rounding to f32 between ops may move a level.
    EXPECT_LT(tests::largest_difference(*logits, expected), 2e-2 * tests::deviation(expected)) << max_rows;
  }
}

TEST_P(Int8Kv, APrefixIsReused) {
  const auto ids = [](std::uint32_t n) {
    Ids some;
    for (std::uint32_t i = 0; i < n; ++i) some.push_back(3 + i * 37 % 300);
    return some;
  };
  const GenerateOptions greedy = {.sampler = {}, .max_tokens = 6, .ignore_eos = true};
  const auto warm = open({.max_rows = 24});
  Ids second = ids(40);
  const Ids answer = tests::generate(*warm.engine, second, greedy).ids;
  second.insert(second.end(), answer.begin(), answer.end());
  second.push_back(42);
  const Ids got = tests::generate(*warm.engine, second, greedy).ids;
  EXPECT_EQ(warm.engine->timings().n_reused_tokens, 45u);
  EXPECT_EQ(got, tests::generate(*open({.max_rows = 24}).engine, second, greedy).ids);
}

TEST_P(Int8Kv, TheCacheIsSmaller) {
  const auto bytes = [](const tests::OpenModel& model) {
    return model.engine->memory_plan()->kv_cache_bytes;
  };
  const std::uint64_t int8 = bytes(open());
  const std::uint64_t f32 = bytes(tests::open_model(tests::family_model(GetParam()), {}));
  EXPECT_LT(int8, f32);
  EXPECT_GT(int8, f32 / 4);
  EXPECT_EQ(int8 % 36, 0u);
}

}  // namespace
}  // namespace ztvm::engine
