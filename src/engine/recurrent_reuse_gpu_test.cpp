// Prefix reuse of models with recurrent state: a second turn starts from a copy of it, and answers as a cold run does.
#include <gtest/gtest.h>

#include "support/golden_model.hpp"

namespace ztvm::engine {
namespace {

using Ids = std::vector<std::uint32_t>;
using tests::OpenOptions;

std::string model_of(const char* family) {
  return std::string(ZTVM_SOURCE_DIR "/tests/golden/") + family + "/model";
}

Ids some_ids(std::size_t n, std::uint32_t seed) {
  Ids ids;
  for (std::size_t i = 0; i < n; ++i)
    ids.push_back(static_cast<std::uint32_t>((seed + 37 * i * i + 11 * i) % 500));
  return ids;
}

Ids answer(Engine& engine, const Ids& prompt, std::uint32_t n_tokens) {
  return tests::generate(engine, prompt, {.sampler = {}, .max_tokens = n_tokens, .ignore_eos = true}).ids;
}

Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class RecurrentReuse : public testing::TestWithParam<const char*> {
 protected:
  // The answer of an engine that has seen nothing before.
  Ids cold(const Ids& prompt, std::uint32_t n_tokens) {
    const auto model = tests::open_model(model_of(GetParam()), options());
    return answer(*model.engine, prompt, n_tokens);
  }
  static OpenOptions options() { return {.backend = Backend::reference, .max_rows = 24}; }
};
INSTANTIATE_TEST_SUITE_P(Families, RecurrentReuse, testing::Values("qwen35", "qwen36"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RecurrentReuse, ASecondTurnPrefillsOnlyWhatIsNew) {
  const auto model = tests::open_model(model_of(GetParam()), options());
  const Ids first = some_ids(40, 1);
  const Ids second = joined(joined(first, answer(*model.engine, first, 9)), some_ids(5, 2));
  const Ids got = answer(*model.engine, second, 8);
  // The last token of the answer was chosen, not taken in.
  EXPECT_EQ(model.engine->timings().n_reused_tokens, 40u + 9u - 1u);
  EXPECT_EQ(got, cold(second, 8));
}

TEST_P(RecurrentReuse, APromptThatPartsNearTheEndStartsFromTheCopyBeforeItsTail) {
  const auto model = tests::open_model(model_of(GetParam()), options());
  const Ids first = some_ids(60, 3);
  answer(*model.engine, first, 4);
  Ids second = first;
  second.resize(57);
  second = joined(second, some_ids(20, 4));
  const Ids got = answer(*model.engine, second, 8);
  EXPECT_EQ(model.engine->timings().n_reused_tokens, 60u - 16u);
  EXPECT_EQ(got, cold(second, 8));
}

TEST_P(RecurrentReuse, APromptThatPartsEarlyStartsAnew) {
  const auto model = tests::open_model(model_of(GetParam()), options());
  const Ids first = some_ids(60, 5);
  answer(*model.engine, first, 4);
  Ids second = first;
  second.resize(20);
  second = joined(second, some_ids(20, 6));
  const Ids got = answer(*model.engine, second, 8);
  EXPECT_EQ(model.engine->timings().n_reused_tokens, 0u);
  EXPECT_EQ(got, cold(second, 8));
}

TEST_P(RecurrentReuse, TheSamePromptAgainGivesTheSameAnswer) {
  const auto model = tests::open_model(model_of(GetParam()), options());
  const Ids prompt = some_ids(33, 7);
  const Ids got = answer(*model.engine, prompt, 8);
  EXPECT_EQ(answer(*model.engine, prompt, 8), got);
  EXPECT_EQ(model.engine->timings().n_reused_tokens, 33u - 16u);
}

// An answer of more than the interval between copies, ended in the middle of what is in flight.
TEST_P(RecurrentReuse, AnInterruptedAnswerIsTakenUpFromALaterCopy) {
  const auto model = tests::open_model(model_of(GetParam()), options());
  const Ids prompt = some_ids(30, 8);
  ASSERT_TRUE(model.engine->begin_ids(prompt, {.sampler = {}, .max_tokens = 200, .ignore_eos = true}));
  Ids output;
  while (output.size() < 80) {
    const auto event = model.engine->step(true);
    ASSERT_TRUE(event) << event.error().text;
    output = joined(output, event->ids);
  }
  model.engine->interrupt();
  ASSERT_EQ(model.engine->step(true)->finish, FinishReason::interrupted);
  const Ids second = joined(joined(prompt, output), some_ids(6, 9));
  const Ids got = answer(*model.engine, second, 8);
  EXPECT_GE(model.engine->timings().n_reused_tokens, 64u);
  EXPECT_EQ(got, cold(second, 8));
}

}  // namespace
}  // namespace ztvm::engine
