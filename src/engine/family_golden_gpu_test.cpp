// The tiny models of every family, in the files they are published as, against the goldens of transformers: logits,
// hidden states of every layer, greedy ids, chats; on the oracles and on every kernel set; chunk sizes; prefix reuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/family_golden.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::engine {
namespace {

using Ids = std::vector<std::uint32_t>;
using tests::OpenOptions;

// The f32 goldens come from exactly the same weights, so only the order of sums differs.
constexpr double k_f32_logits = 2e-3;  // of their standard deviation
// GPU sets multiply activations as 16-bit integers.
constexpr double k_f32_integer_logits = 5e-3;

using Prompt = tests::GoldenPrompt;

double relative_l2(std::span<const float> got, std::span<const float> want) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
    norm += double{want[i]} * want[i];
  }
  return std::sqrt(difference / norm);
}

// f16 activations: four times the twin's error, at least 0.05 deviations.
double logits_bound(const Prompt& prompt, const OpenOptions& options, bool f16) {
  if (f16) return std::max(4.0 * prompt.f16_noise, 0.05);
  return options.target && !options.target->cpu ? k_f32_integer_logits : k_f32_logits;
}

// The hidden states after each layer [n_layers + 1][n_tokens, dim], one layer behind the other.
std::vector<std::vector<float>> hidden_states(Engine& engine, std::span<const std::uint32_t> ids) {
  std::vector<std::vector<float>> layers;
  const auto sink = [&](std::size_t layer, Bytes rows) -> Result<void> {
    if (layers.size() <= layer) layers.resize(layer + 1);
    const std::size_t n_old = layers[layer].size();
    layers[layer].resize(n_old + rows.size() / sizeof(float));
    std::memcpy(layers[layer].data() + n_old, rows.data(), rows.size());
    return {};
  };
  EXPECT_TRUE(engine.compute_logits(ids, sink));
  return layers;
}

struct GoldenHidden {
  Prompt prompt;
  std::vector<float> states;  // of all layers
};
GoldenHidden golden_hidden(const std::string& family) {
  const auto golden = tests::family_golden(family)["hidden"];
  const auto file = golden["states"]["file"].get<std::string>();
  for (Prompt& prompt : tests::golden_prompts(family)) {
    if (prompt.name != golden["prompt"].get<std::string>()) continue;
    return {std::move(prompt), tests::read_floats(tests::family_root(family) + "/golden/" + file)};
  }
  throw std::runtime_error(family + " has no prompt with hidden states");
}

// `expect` is given each layer's states, got and wanted.
template <typename Expect>
void compare_layers(Engine& engine, const GoldenHidden& golden, const Expect& expect) {
  const auto layers = hidden_states(engine, golden.prompt.ids);
  ASSERT_FALSE(layers.empty());
  ASSERT_EQ(layers.size() * layers[0].size(), golden.states.size());
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    SCOPED_TRACE(testing::Message() << "hidden states of layer " << layer);
    const std::size_t n = layers[layer].size();
    expect(layers[layer], std::span(golden.states).subspan(layer * n, n));
  }
}

void expect_golden(const std::string& family, const OpenOptions& options, bool f16, std::uint32_t n_tokens,
                   const std::vector<std::string>& names = {}) {
  const auto model = tests::open_model(tests::family_model(family), options);
  for (const Prompt& prompt : tests::golden_prompts(family)) {
    if (!names.empty() && std::ranges::find(names, prompt.name) == names.end()) continue;
    SCOPED_TRACE(prompt.name);
    const auto logits = model.engine->compute_logits(prompt.ids, {});
    ASSERT_TRUE(logits) << logits.error().text;
    ASSERT_EQ(logits->size(), prompt.logits.size());
    EXPECT_LT(tests::largest_difference(*logits, prompt.logits),
              logits_bound(prompt, options, f16) * tests::deviation(prompt.logits));
    EXPECT_LT(relative_l2(*logits, prompt.logits), logits_bound(prompt, options, f16));
    const auto got = tests::generate(*model.engine, prompt.ids,
                                     {.sampler = {}, .max_tokens = n_tokens, .ignore_eos = true});
    Ids tokens = prompt.tokens;
    tokens.resize(n_tokens);
    tests::expect_greedy(got.ids, tokens, prompt.margins, f16 ? 0.15 : 0.02);
  }
}

class FamilyGolden : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Families, FamilyGolden,
                         testing::Values("llama", "phi3", "qwen3", "qwen35", "qwen36", "qwen36q3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FamilyGolden, LogitsAndGreedyIdsOnTheOracles) {
  expect_golden(GetParam(), {.backend = Backend::reference}, false, 32);
}

TEST_P(FamilyGolden, HiddenStatesOfEveryLayer) {
  const auto model = tests::open_model(tests::family_model(GetParam()), {.backend = Backend::reference});
  compare_layers(*model.engine, golden_hidden(GetParam()),
                 [](std::span<const float> got, std::span<const float> want) {
                   EXPECT_LT(tests::largest_difference(got, want), 1e-4 * (1.0 + tests::deviation(want)));
                 });
}

// The tokenizer's files, the template and the stop ids of the model's own folder.
TEST_P(FamilyGolden, ChatsRenderAndStop) {
  const std::string family = GetParam();
  const auto model = tests::open_model(tests::family_model(family), {.backend = Backend::reference});
  const auto golden = tests::read_json(tests::family_root(family) + "/golden/tokenizer_golden.json");
  ASSERT_FALSE(golden["chats"].empty());
  for (const auto& chat : golden["chats"]) {
    std::vector<Message> messages;
    for (const auto& m : chat["messages"]) {
      messages.push_back({m["role"].get<std::string>(), m["content"].get<std::string>()});
    }
    SCOPED_TRACE(chat["rendered"].get<std::string>());
    const auto margins = chat["margins"].get<std::vector<double>>();
    auto want = chat["greedy_tokens"].get<Ids>();
    // The reference may choose an id that no token has; the engine never does, so the paths part there.
    const auto n_active = golden["active_vocab_size"].get<std::uint32_t>();
    want.erase(std::ranges::find_if(want, [&](std::uint32_t id) { return id >= n_active; }), want.end());
    ASSERT_TRUE(model.engine->begin_chat(messages, {.sampler = {}, .max_tokens = 24, .ignore_eos = true}));
    EXPECT_EQ(Ids(model.engine->prompt_ids().begin(), model.engine->prompt_ids().end()),
              chat["ids"].get<Ids>());
    Ids got = tests::run_to_end(*model.engine).ids;
    got.resize(want.size());
    tests::expect_greedy(got, want, margins, 0.02);
  }
}

struct FamilyAndSet {
  const char* family;
  const char* set;
};
class FamilyGoldenGpu : public testing::TestWithParam<FamilyAndSet> {
 protected:
  void SetUp() override {
    const auto target = gpu::parse_target(GetParam().set);
    ASSERT_TRUE(target);
    // Few adapters have subgroup matrices; all that tests run on have the rest.
    if (!target->matrices) return;
    const auto device = gpu::open_webgpu_device(test_adapter());
    ASSERT_TRUE(device) << device.error().text;
    if (!gpu::supports((*device)->caps(), *target)) GTEST_SKIP() << "no subgroup matrices";
  }
};

TEST_P(FamilyGoldenGpu, LogitsAndGreedyIds) {
  const auto target = gpu::parse_target(GetParam().set);
  // A single token, one over a page border in its answer, one of more than a prefill chunk: the sets take minutes.
  expect_golden(GetParam().family, {.backend = Backend::gpu, .target = *target}, target->f16, 10,
                {"p001", "p016", "p131"});
}

TEST_P(FamilyGoldenGpu, HiddenStatesOfEveryLayer) {
  const OpenOptions options = {.backend = Backend::gpu, .target = *gpu::parse_target(GetParam().set)};
  const auto model = tests::open_model(tests::family_model(GetParam().family), options);
  const GoldenHidden golden = golden_hidden(GetParam().family);
  const double bound = logits_bound(golden.prompt, options, options.target->f16);
  compare_layers(*model.engine, golden, [&](std::span<const float> got, std::span<const float> want) {
    EXPECT_LT(relative_l2(got, want), bound);
  });
}

// Every family on the sets that people get, and on one more, so that each set has several; ZTVM_ALL_CASES=1: all on all.
std::vector<FamilyAndSet> families_and_sets() {
  if (std::getenv("ZTVM_ALL_CASES") == nullptr) {
    return {{"phi3", "cpu f32"},   {"phi3", "gpu f16 subgroups"},   {"phi3", "gpu f16"},
            {"qwen3", "cpu f32"},  {"qwen3", "gpu f16 subgroups"},  {"qwen3", "gpu f32"},
            {"qwen35", "cpu f32"}, {"qwen35", "gpu f16 subgroups"}, {"qwen35", "gpu f32 subgroups"},
            {"qwen36", "cpu f32"}, {"qwen36", "gpu f16 subgroups"}, {"qwen36q3", "gpu f32"}};
  }
  std::vector<FamilyAndSet> all;
  for (const char* family : {"phi3", "qwen3", "qwen35", "qwen36", "qwen36q3"}) {
    for (const char* set : {"cpu f32", "gpu f32", "gpu f16", "gpu f32 subgroups", "gpu f16 subgroups",
                            "gpu f16 subgroups matrices"}) {
      all.push_back({family, set});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(KernelSets, FamilyGoldenGpu, testing::ValuesIn(families_and_sets()),
                         [](const auto& info) {
                           std::string name = std::string(info.param.family) + "_" + info.param.set;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

class FamilyLockstepGpu : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Families, FamilyLockstepGpu,
                         testing::Values("phi3", "qwen3", "qwen35", "qwen36", "qwen36q3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FamilyLockstepGpu, EveryOpAgrees) {
  for (const char* set : {"cpu f32", "gpu f16 subgroups"}) {
    gpu::LockstepReport report;
    const auto model = tests::open_model(
        tests::family_model(GetParam()),
        {.backend = Backend::lockstep, .target = *gpu::parse_target(set), .report = &report});
    const Ids ids = tests::golden_prompts(GetParam())[2].ids;
    tests::generate(*model.engine, ids, {.sampler = {}, .max_tokens = 2, .ignore_eos = true});
    EXPECT_FALSE(report.first_mismatch) << gpu::describe(*report.first_mismatch);
    EXPECT_GE(report.n_ops, 50u);
  }
}

// The same ids whatever the chunks, on the oracles; on a prompt longer than several of them.
class FamilyChunks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Families, FamilyChunks, testing::Values("phi3", "qwen35", "qwen36"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FamilyChunks, DoNotChangeTheResult) {
  const Prompt prompt = tests::golden_prompts(GetParam()).at(5);
  ASSERT_EQ(prompt.ids.size(), 131u);
  for (const std::uint32_t max_rows : {1u, 3u, 16u, 130u, 256u}) {
    const auto model = tests::open_model(tests::family_model(GetParam()),
                                         {.backend = Backend::reference, .max_rows = max_rows});
    const auto logits = model.engine->compute_logits(prompt.ids, {});
    ASSERT_TRUE(logits) << logits.error().text;
    EXPECT_LT(tests::largest_difference(*logits, prompt.logits),
              k_f32_logits * tests::deviation(prompt.logits))
        << max_rows << " rows a chunk";
  }
}

}  // namespace
}  // namespace ztvm::engine
