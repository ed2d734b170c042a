// Layers at the published models' true dimensions, with random weights, op by op beside their oracles: no kernel is right
// only where matrices are small. One layer of each kind that a model has; a short vocabulary.
#include <gtest/gtest.h>

#include <cstdlib>

#include "apps/clock.hpp"
#include "apps/loaded_model.hpp"
#include "engine/engine.hpp"
#include "engine/true_shapes.hpp"
#include "support/test_adapter.hpp"

namespace ztvm::engine {
namespace {

struct Shape {
  const char* alias;
  std::uint32_t n_layers;  // hybrids: a DeltaNet layer, then attention
};

// On an adapter that is a CPU the large models take minutes each; ZTVM_ALL_CASES=1 runs them wherever it is set.
std::vector<Shape> shapes() {
  if (std::getenv("ZTVM_ALL_CASES") == nullptr) return {{"smollm2", 1}};
  return {{"smollm2", 1}, {"phi3", 1}, {"qwen3", 1}, {"qwen35", 2}, {"qwen36", 2}};
}

class TrueShapesGpu : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Models, TrueShapesGpu, testing::ValuesIn(shapes()),
                         [](const auto& info) { return std::string(info.param.alias); });

TEST_P(TrueShapesGpu, EveryOpAgrees) {
  auto device = gpu::open_webgpu_device(test_adapter());
  ASSERT_TRUE(device) << device.error().text;
  gpu::LockstepReport report;
  auto engine = Engine::open_random(
      **device, GetParam().alias, {.n_layers = GetParam().n_layers, .vocab = 512},
      {.context = 64, .max_rows = 4, .backend = Backend::lockstep, .now_ms = app::now_ms, .report = &report});
  ASSERT_TRUE(engine) << engine.error().text;
  const auto ready = app::wait_until_ready(**engine);
  ASSERT_TRUE(ready) << ready.error().text;
  // A chunk of three rows, then a token by itself.
  const std::vector<std::uint32_t> ids = {7, 300, 41};
  ASSERT_TRUE((*engine)->begin_ids(ids, {.sampler = {}, .max_tokens = 2, .ignore_eos = true}));
  while (true) {
    const auto event = (*engine)->step(true);
    ASSERT_TRUE(event) << event.error().text;
    if (event->finish != FinishReason::none) break;
  }
  EXPECT_FALSE(report.first_mismatch) << gpu::describe(*report.first_mismatch);
  EXPECT_GE(report.n_ops, 20u);
}

}  // namespace
}  // namespace ztvm::engine
