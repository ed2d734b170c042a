// Whole models against the goldens of transformers: greedy ids, logits, hidden states; on the oracles and on the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/golden_model.hpp"

namespace ztvm::engine {
namespace {

using Ids = std::vector<std::uint32_t>;
using tests::OpenOptions;

const std::string k_golden_folder = ZTVM_SOURCE_DIR "/tests/golden/llama/golden/";

// The f32 goldens come from exactly the same weights, so only the order of sums differs.
constexpr double k_f32_logits = 2e-3;  // of their standard deviation
// f16 activations: transformers' own all-f16 twin is off by 0.005 to 0.03 deviations (golden.json, stats).
constexpr double k_f16_logits = 5e-2;

struct Prompt {
  std::string name;
  Ids ids;
  Ids tokens;
  std::vector<double> margins;
  std::string logits_file;
};

std::vector<Prompt> tiny_prompts() {
  std::vector<Prompt> prompts;
  const auto golden = tests::read_json(k_golden_folder + "golden.json");
  for (const auto& p : golden["prompts"]) {
    prompts.push_back({p["name"].get<std::string>(), p["ids"].get<Ids>(), p["greedy"]["tokens"].get<Ids>(),
                       p["greedy"]["margins"].get<std::vector<double>>(),
                       k_golden_folder + p["last_logits"]["file"].get<std::string>()});
  }
  return prompts;
}

void expect_tiny_model_is_golden(const OpenOptions& options, double logits_tolerance, double margin) {
  const auto model = tests::open_model(tests::k_tiny_llama, options);
  for (const Prompt& prompt : tiny_prompts()) {
    SCOPED_TRACE(prompt.name);
    const auto want = tests::read_floats(prompt.logits_file);
    const auto logits = model.engine->compute_logits(prompt.ids, {});
    ASSERT_TRUE(logits) << logits.error().text;
    EXPECT_LT(tests::largest_difference(*logits, want), logits_tolerance * tests::deviation(want));
    const auto got =
        tests::generate(*model.engine, prompt.ids, {.sampler = {}, .max_tokens = 32, .ignore_eos = true});
    tests::expect_greedy(got.ids, prompt.tokens, prompt.margins, margin);
  }
}

// Every kernel set that the test adapter can run.
class EngineGoldenGpu : public testing::TestWithParam<const char*> {};

TEST_P(EngineGoldenGpu, TinyLlama) {
  const auto target = gpu::parse_target(GetParam());
  ASSERT_TRUE(target);
  expect_tiny_model_is_golden({.backend = Backend::gpu, .target = *target},
                              target->f16 ? k_f16_logits : k_f32_logits, target->f16 ? 0.15 : 0.02);
}

INSTANTIATE_TEST_SUITE_P(KernelSets, EngineGoldenGpu,
                         testing::Values("cpu f32", "gpu f32", "gpu f16 subgroups"), [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

TEST(EngineGoldenGpuLockstep, EveryOpOfTheTinyModelAgrees) {
  gpu::LockstepReport report;
  const auto model =
      tests::open_model(tests::k_tiny_llama, {.backend = Backend::lockstep, .report = &report});
  const Ids ids = {232, 17, 5, 99};
  tests::generate(*model.engine, ids, {.sampler = {}, .max_tokens = 2, .ignore_eos = true});
  EXPECT_FALSE(report.first_mismatch) << gpu::describe(*report.first_mismatch);
  EXPECT_GE(report.n_ops, 5u * 32u);
}

// The real SmolLM2: f32 forms equal transformers up to the first step whose margin is below 0.02.
void expect_smollm2_is_golden(Backend backend, std::size_t n_prompts, std::uint32_t n_tokens) {
  const auto model = tests::open_model(tests::k_smollm2, {.backend = backend});
  const auto golden = tests::read_json(ZTVM_SOURCE_DIR "/tests/golden/smollm2/golden.json");
  for (std::size_t i = 0; i < n_prompts; ++i) {
    const auto& p = golden["prompts"][i];
    SCOPED_TRACE(p["name"].get<std::string>());
    const auto ids = p["ids"].get<Ids>();
    auto tokens = p["tokens"].get<Ids>();
    tokens.resize(n_tokens);
    const auto got =
        tests::generate(*model.engine, ids, {.sampler = {}, .max_tokens = n_tokens, .ignore_eos = true});
    tests::expect_greedy(got.ids, tokens, p["margins"].get<std::vector<double>>(), 0.02);
  }
}

TEST(EngineGolden, SmolLM2OnTheOracles) { expect_smollm2_is_golden(Backend::reference, 1, 4); }
// Every token of the five prompts with ZTVM_ALL_CASES=1; else enough of each to pass a page and a stop, without the long one,
// whose prefill takes longest and is compared below.
TEST(EngineGoldenGpuSmolLM2, AllPrompts) {
  const bool takes_all = std::getenv("ZTVM_ALL_CASES") != nullptr;
  expect_smollm2_is_golden(Backend::gpu, takes_all ? 5 : 4, takes_all ? 48 : 16);
}

TEST(EngineGoldenGpuSmolLM2, LogitsOfTheLongPrompt) {
  const auto model = tests::open_model(tests::k_smollm2, {.backend = Backend::gpu});
  const auto golden = tests::read_json(ZTVM_SOURCE_DIR "/tests/golden/smollm2/golden.json");
  const auto want = tests::read_floats(ZTVM_SOURCE_DIR "/tests/golden/smollm2/long.last_logits.f32.bin");
  const auto& prompt = golden["prompts"][4];
  ASSERT_EQ(prompt["name"], "long");
  const auto logits = model.engine->compute_logits(prompt["ids"].get<Ids>(), {});
  ASSERT_TRUE(logits) << logits.error().text;
  EXPECT_LT(tests::largest_difference(*logits, want), k_f32_logits * tests::deviation(want));
  EXPECT_EQ(std::ranges::max_element(*logits) - logits->begin(), prompt["tokens"][0].get<std::ptrdiff_t>());
}

}  // namespace
}  // namespace ztvm::engine
