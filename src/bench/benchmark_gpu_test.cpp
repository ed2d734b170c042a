#include "bench/benchmark.hpp"

#include <gtest/gtest.h>

#include "kernels/test_device.hpp"

namespace ztvm::bench {
namespace {

// Gives a token every 10 ms of a clock of its own, the first after 100 ms.
class FakeEngine final : public engine::Engine {
 public:
  bool gives_other_ids = false;  // from the sixth generation on
  bool keeps_prompts = false;    // tells that every prompt is cached
  double now_ms = 1.0;

  std::optional<load::WantedRange> wanted() const override { return {}; }
  std::optional<load::WantedRange> wanted_later(std::size_t) const override { return {}; }
  Result<void> supply(Bytes, std::uint64_t) override { return {}; }
  Result<void> supply_missing() override { return {}; }
  std::optional<engine::MemoryPlan> memory_plan() const override {
    return engine::MemoryPlan{.kv_cache_bytes = 1000, .context = 100, .decode_weights_bytes = 5000};
  }
  Result<bool> ready(bool) override { return true; }
  const gpu::Tuning& tuning() const override { return tuning_; }
  std::uint32_t context() const override { return 100; }
  std::uint32_t dispatches_per_token() const override { return 0; }
  Result<void> begin_chat(std::span<const engine::Message>, const engine::GenerateOptions&) override {
    return {};
  }
  Result<void> begin_text(std::string_view, const engine::GenerateOptions&) override { return {}; }
  Result<void> begin_ids(std::span<const std::uint32_t> ids, const engine::GenerateOptions& asked) override {
    ++n_generations_;
    prompt_.assign(ids.begin(), ids.end());
    n_left_ = asked.max_tokens;
    timings_ = {.prefill_ms = 100.0,
                .n_reused_tokens = keeps_prompts ? static_cast<std::uint32_t>(ids.size()) : 0};
    return {};
  }
  Result<engine::StepEvent> step(bool) override {
    now_ms += 10.0;
    timings_.decode_ms += timings_.n_output_tokens == 0 ? 0.0 : 10.0;
    ++timings_.n_output_tokens;
    const std::uint32_t id = n_left_ + (gives_other_ids && n_generations_ > 5 && n_left_ == 2 ? 1 : 0);
    --n_left_;
    return engine::StepEvent{
        .text = {},
        .ids = {id},
        .finish = n_left_ == 0 ? engine::FinishReason::length : engine::FinishReason::none};
  }
  void interrupt() override {}
  Result<std::vector<std::uint32_t>> encode_text(std::string_view) const override {
    return std::vector<std::uint32_t>();
  }
  Result<void> score(std::span<const std::uint32_t>, std::uint32_t, const engine::LogitsSink&) override {
    return {};
  }
  Result<void> begin_probe(std::span<const std::uint32_t>, engine::ProbeSinks) override { return {}; }
  Result<bool> step_probe(bool) override { return true; }
  Result<engine::PassTimes> profile_pass(std::uint32_t, std::uint32_t) override {
    return engine::PassTimes();
  }
  std::span<const std::uint32_t> prompt_ids() const override { return prompt_; }
  engine::Timings timings() const override { return timings_; }

 private:
  std::vector<std::uint32_t> prompt_;
  engine::Timings timings_;
  gpu::Tuning tuning_;
  std::uint32_t n_left_ = 0;
  int n_generations_ = 0;
};

// One prefill to warm up and one that counts; at depth 20 a first run and two that count.
Result<BenchFigures> measure(FakeEngine& engine) {
  // The stream is measured, too: each look at the clock takes 200 ms.
  const auto clock = [&engine] { return engine.now_ms += 200.0; };
  MeteredDevice device(*kernels::test_device(), clock);
  Benchmark benchmark(device, engine, {.prompt_tokens = 8, .gen_tokens = 4, .depths = {20}, .repeat = 2},
                      clock);
  while (true) {
    auto done = benchmark.step(true);
    if (!done) return forward(done);
    if (*done) return benchmark.figures();
  }
}

TEST(BenchmarkGpu, CountsOnlyTimedRuns) {
  FakeEngine engine;
  const auto figures = measure(engine);
  ASSERT_TRUE(figures) << figures.error().text;
  EXPECT_GT(figures->stream_gb_per_s, 0.0);
  EXPECT_EQ(figures->prefill.tokens_per_s.values, (std::vector<double>{80.0, 80.0}));
  EXPECT_EQ(figures->prefill.ttft_ms.values, (std::vector<double>{100.0, 100.0}));
  ASSERT_EQ(figures->decode.size(), 1u);
  const DecodeFigure& decode = figures->decode[0];
  EXPECT_EQ(decode.depth, 20u);
  EXPECT_EQ(decode.tokens_per_s.values, (std::vector<double>{100.0, 100.0}));
  EXPECT_EQ(decode.ttft_ms.values, (std::vector<double>{100.0}));
  EXPECT_NEAR(decode.total_tokens_per_s.median(), 5000.0 / 140.0, 1e-9);
  EXPECT_EQ(decode.bytes_per_token, 5000u + 10 * (20 + 2));
  EXPECT_EQ(decode.n_created, 0u);
}

TEST(BenchmarkGpu, IdsThatDifferFromRunToRunAreAnError) {
  FakeEngine engine;
  engine.gives_other_ids = true;
  const auto figures = measure(engine);
  ASSERT_FALSE(figures);
  EXPECT_NE(figures.error().text.find("Run 2 at depth 20 differs from the first in token 3 of 5"),
            std::string::npos)
      << figures.error().text;
}

TEST(BenchmarkGpu, APromptThatWasCachedIsAnError) {
  FakeEngine engine;
  engine.keeps_prompts = true;
  const auto figures = measure(engine);
  ASSERT_FALSE(figures);
  EXPECT_NE(figures.error().text.find("8 of 8 prompt tokens were still cached"), std::string::npos);
}

}  // namespace
}  // namespace ztvm::bench
