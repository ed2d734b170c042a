// The generation state machine, on the oracles: reuse, edges of the context, stops, interruption, sampling.
#include "engine/session.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden_model.hpp"

namespace ztvm::engine {
namespace {

using Ids = std::vector<std::uint32_t>;

// A tiny model with a context of 64 tokens, made once for each test.
class Session : public testing::Test {
 protected:
  tests::OpenModel model_ =
      tests::open_model(tests::k_tiny_llama, {.backend = Backend::reference, .context = 64});
  Engine& engine_ = *model_.engine;

  static GenerateOptions greedy(std::uint32_t n) {
    return {.sampler = {}, .max_tokens = n, .ignore_eos = true};
  }
  static Ids prompt(std::uint32_t n) {
    Ids ids;
    for (std::uint32_t i = 0; i < n; ++i) ids.push_back(3 + i * 37 % 500);
    return ids;
  }
  Ids cold(const Ids& ids, std::uint32_t n) {
    const auto fresh = tests::open_model(tests::k_tiny_llama, {.backend = Backend::reference, .context = 64});
    return tests::generate(*fresh.engine, ids, greedy(n)).ids;
  }
};

TEST_F(Session, ReusesThePrefixAndGivesTheColdRunsTokens) {
  const Ids first = prompt(20);
  const Ids answer = tests::generate(engine_, first, greedy(6)).ids;
  EXPECT_EQ(engine_.timings().n_reused_tokens, 0u);

  Ids second = first;
  second.insert(second.end(), answer.begin(), answer.end());
  second.push_back(42);
  const Ids warm = tests::generate(engine_, second, greedy(6)).ids;
  EXPECT_EQ(engine_.timings().n_reused_tokens, 25u);  // all but the last answer token, which never ran
  EXPECT_EQ(warm, cold(second, 6));
}

TEST_F(Session, SamePromptTwiceRunsItsLastTokenAgain) {
  const Ids ids = prompt(17);
  const Ids first = tests::generate(engine_, ids, greedy(5)).ids;
  EXPECT_EQ(tests::generate(engine_, ids, greedy(5)).ids, first);
  EXPECT_EQ(engine_.timings().n_reused_tokens, 16u);
}

TEST_F(Session, ChangedTokenCutsTheReuse) {
  Ids ids = prompt(18);
  tests::generate(engine_, ids, greedy(4));
  ids[7] = 1;
  const Ids warm = tests::generate(engine_, ids, greedy(4)).ids;
  EXPECT_EQ(engine_.timings().n_reused_tokens, 7u);
  EXPECT_EQ(warm, cold(ids, 4));
  const Ids shorter(ids.begin(), ids.begin() + 5);
  EXPECT_EQ(tests::generate(engine_, shorter, greedy(4)).ids, cold(shorter, 4));
}

TEST_F(Session, PromptMayFillTheContext) {
  const auto result = tests::generate(engine_, prompt(64), greedy(10));
  EXPECT_EQ(result.ids.size(), 1u);
  EXPECT_EQ(result.finish, FinishReason::length);
  EXPECT_EQ(tests::generate(engine_, prompt(63), greedy(10)).ids.size(), 2u);
}

TEST_F(Session, TooLongAPromptIsRefusedWithBothNumbers) {
  const auto begun = engine_.begin_ids(prompt(65), greedy(1));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::context_full);
  EXPECT_NE(begun.error().text.find("65"), std::string::npos);
  EXPECT_NE(begun.error().text.find("64"), std::string::npos);
  EXPECT_NE(
      begun.error().text.find("; --context asks for more, on the page ?ctx= (the model takes up to 4096)"),
      std::string::npos)
      << begun.error().text;
  EXPECT_EQ(tests::generate(engine_, prompt(3), greedy(2)).ids.size(), 2u);  // still usable
}

TEST_F(Session, BadPromptsAreRefused) {
  EXPECT_EQ(engine_.begin_ids(Ids{}, greedy(1)).error().code, ErrorCode::invalid_argument);
  const auto outside = engine_.begin_ids(Ids{1, 580}, greedy(1));
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().text.find("580"), std::string::npos);
  EXPECT_FALSE(engine_.begin_ids(Ids{1}, greedy(0)));
}

TEST_F(Session, BadSamplerValuesAreRefusedByName) {
  const auto error_of = [&](SamplerParams sampler) {
    const auto begun = engine_.begin_ids(Ids{1}, {.sampler = sampler, .max_tokens = 1, .ignore_eos = true});
    return begun ? std::string() : begun.error().text;
  };
  EXPECT_EQ(error_of({.temperature = NAN}),
            "Field \"temperature\" is nan, expected a number of at least 0 and at most 100.");
  EXPECT_NE(error_of({.temperature = -1.0f}).find("temperature"), std::string::npos);
  EXPECT_NE(error_of({.temperature = 1e30f}).find("temperature"), std::string::npos);
  EXPECT_EQ(error_of({.top_p = 0.0f}), "Field \"top_p\" is 0, expected a number above 0 and at most 1.");
  EXPECT_NE(error_of({.top_p = 1.1f}).find("top_p"), std::string::npos);
  EXPECT_NE(error_of({.min_p = -0.1f}).find("min_p"), std::string::npos);
  EXPECT_NE(error_of({.repeat_penalty = 0.0f}).find("repeat_penalty"), std::string::npos);
  EXPECT_EQ(error_of({.temperature = -0.0f}), "");
}

TEST_F(Session, StopTokenEndsTheAnswerAndIsUndone) {
  // A prompt whose greedy path reaches this model's stop token, 2.
  Ids next = {12, 13};
  const auto result = tests::generate(engine_, next, {.sampler = {}, .max_tokens = 40, .ignore_eos = false});
  ASSERT_EQ(result.finish, FinishReason::stop);
  EXPECT_EQ(result.ids.back(), 2u);
  next.insert(next.end(), result.ids.begin(), result.ids.end());
  next.push_back(9);
  EXPECT_EQ(tests::generate(engine_, next, greedy(5)).ids, cold(next, 5));
}

TEST_F(Session, InterruptedAnswerLeavesAUsableEngine) {
  const Ids ids = prompt(10);
  ASSERT_TRUE(engine_.begin_ids(ids, greedy(40)));
  ASSERT_TRUE(engine_.step(true));
  engine_.interrupt();
  EXPECT_EQ(tests::run_to_end(engine_).finish, FinishReason::interrupted);
  EXPECT_EQ(tests::generate(engine_, ids, greedy(5)).ids, cold(ids, 5));
}

TEST_F(Session, InterruptInThePrefillKeepsOnlyWhatRan) {
  const Ids ids = prompt(30);
  ASSERT_TRUE(engine_.begin_ids(ids, greedy(5)));
  engine_.interrupt();
  EXPECT_EQ(tests::run_to_end(engine_).finish, FinishReason::interrupted);
  EXPECT_EQ(tests::generate(engine_, ids, greedy(5)).ids, cold(ids, 5));
}

TEST_F(Session, SameSeedGivesTheSameTokens) {
  const Ids ids = prompt(9);
  const auto run = [&](std::uint64_t seed) {
    const GenerateOptions options = {
        .sampler = {.temperature = 1.5f, .top_p = 0.95f, .seed = seed}, .max_tokens = 16, .ignore_eos = true};
    return tests::generate(engine_, ids, options).ids;
  };
  const Ids first = run(7);
  EXPECT_EQ(run(7), first);
  EXPECT_NE(run(8), first);
}

TEST_F(Session, RepeatPenaltyChangesGreedyChoices) {
  const Ids ids = prompt(9);
  const Ids plain = tests::generate(engine_, ids, greedy(24)).ids;
  const GenerateOptions penalised = {
      .sampler = {.repeat_penalty = 10.0f}, .max_tokens = 24, .ignore_eos = true};
  const Ids varied = tests::generate(engine_, ids, penalised).ids;
  EXPECT_NE(varied, plain);
  const auto n_distinct = [](Ids list) {
    std::sort(list.begin(), list.end());
    return std::unique(list.begin(), list.end()) - list.begin();
  };
  EXPECT_GE(n_distinct(varied), n_distinct(plain));
}

TEST_F(Session, TextOfTheStepsIsTheDecodedWhole) {
  const auto result = tests::generate(engine_, prompt(5), greedy(20));
  EXPECT_FALSE(result.text.empty());
  EXPECT_EQ(engine_.timings().n_output_tokens, 20u);
}

TEST_F(Session, SecondBeginWhileRunningIsRefused) {
  ASSERT_TRUE(engine_.begin_ids(prompt(4), greedy(4)));
  EXPECT_FALSE(engine_.begin_ids(prompt(4), greedy(4)));
  EXPECT_EQ(tests::run_to_end(engine_).ids.size(), 4u);
}

}  // namespace
}  // namespace ztvm::engine
