// Forms of ops on this adapter: measured at a start, used at the next, and whichever is taken, the model is right.
#include <gtest/gtest.h>

#include "support/family_golden.hpp"

namespace ztvm::engine {
namespace {

const gpu::Target k_target = {.subgroups = true};
constexpr std::uint32_t k_rows = 40;  // of a chunk: more than few, and soon done on a CPU

tests::OpenModel open(const gpu::Tuning& tuning, bool autotune, gpu::LockstepReport* report = nullptr) {
  return tests::open_model(tests::family_model("qwen3"),
                           {.backend = report == nullptr ? Backend::gpu : Backend::lockstep,
                            .target = k_target,
                            .max_rows = k_rows,
                            .report = report,
                            .tuning = tuning,
                            .autotune = autotune});
}

// What two starts measure: each has a limited time, and here the forms compile long.
const gpu::Tuning& measured() {
  static const gpu::Tuning tuning = [] {
    const gpu::Tuning first = open({}, true).engine->tuning();
    EXPECT_FALSE(first.empty());
    gpu::Tuning second = open(first, true).engine->tuning();
    EXPECT_GT(second.size(), first.size());
    for (const auto& [shape, tuned] : first) EXPECT_EQ(second.at(shape), tuned) << shape;
    return second;
  }();
  return tuning;
}

TEST(TunerGpu, MeasuresShapesOnceAndFindsNoWrongForm) {
  for (const auto& [shape, tuned] : measured()) {
    EXPECT_TRUE(tuned.wrong.empty()) << shape << ": " << tuned.wrong.begin()->second;
    ASSERT_TRUE(tuned.times.contains(tuned.form)) << shape;
    ASSERT_TRUE(tuned.times.contains(tuned.own)) << shape;
    EXPECT_LE(tuned.times.at(tuned.form), tuned.times.at(tuned.own)) << shape;
  }
}

TEST(TunerGpu, WithoutAutotuneNothingIsMeasured) { EXPECT_TRUE(open({}, false).engine->tuning().empty()); }

// A tuning made up: of every shape another form than the kernel's own choice.
TEST(TunerGpu, AModelThatTakesOtherFormsAgreesOpByOp) {
  gpu::Tuning other;
  for (const auto& [shape, tuned] : measured()) {
    const std::string& first = tuned.times.begin()->first;
    const std::string& form = first == tuned.own ? tuned.times.rbegin()->first : first;
    other[shape] = {.form = form, .own = tuned.own, .times = {}, .wrong = {}};
  }
  gpu::LockstepReport report;
  const tests::OpenModel model = open(other, false, &report);
  const tests::GoldenPrompt prompt = tests::golden_prompts("qwen3").at(4);  // several chunks
  tests::generate(*model.engine, prompt.ids, {.sampler = {}, .max_tokens = 2, .ignore_eos = true});
  EXPECT_FALSE(report.first_mismatch) << gpu::describe(*report.first_mismatch);
  EXPECT_GE(report.n_ops, 50u);
}

}  // namespace
}  // namespace ztvm::engine
