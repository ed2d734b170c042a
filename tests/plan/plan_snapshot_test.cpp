// Snapshots of the recorded ops: a refactor keeps them byte for byte. ZTVM_UPDATE_SNAPSHOTS=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "apps/model_source.hpp"
#include "engine/model_plan.hpp"
#include "gpu/host_device.hpp"
#include "read_file.hpp"

namespace ztvm::model {
namespace {

std::string describe(const gpu::Const& value) {
  if (value.type == gpu::Const::Type::f32) return fmt::format("{}={}", value.name, value.f32);
  return fmt::format("{}={}", value.name, value.u32);
}

std::string describe(const gpu::Recording& recording) {
  std::string text;
  for (const gpu::Op& op : recording.ops) {
    text += fmt::format("{}: {}", op.name, op.program.body);
    for (const auto part : op.program.parts) text += fmt::format(" +{}", part);
    for (const gpu::Const& value : op.program.consts) text += " " + describe(value);
    text += fmt::format(" grid {}x{}x{}", op.grid.x, op.grid.y, op.grid.z);
    if (op.grid.rows_axis != gpu::Grid::Axis::none) {
      text += fmt::format(" rows on axis {} by {}", static_cast<int>(op.grid.rows_axis),
                          op.grid.rows_per_workgroup);
    }
    if (op.grid.keys_axis != gpu::Grid::Axis::none) {
      text += fmt::format(" keys on axis {} by {}", static_cast<int>(op.grid.keys_axis),
                          op.grid.keys_per_workgroup);
    }
    text += " buffers";
    for (const gpu::Binding& binding : op.bindings) {
      text += fmt::format(" {}{}", binding.access == gpu::Access::read ? "" : "*",
                          static_cast<std::uint32_t>(binding.tensor.buffer));
    }
    text += "\n";
  }
  return text;
}

Result<engine::ModelPlan> plan_tiny(const std::string& model, const gpu::Caps& caps,
                                    const engine::LoadOptions& options) {
  auto files = app::read_model_files(ZTVM_SOURCE_DIR "/tests/golden/" + model);
  if (!files) return forward(files);
  auto head = engine::read_model_head(std::move(*files));
  if (!head) return forward(head);
  return engine::plan_model(std::move(head->family), head->checkpoint, head->text.tokenizer.vocab_size(),
                            caps, options);
}

std::string record_tiny(const std::string& model, const gpu::Target& target) {
  gpu::HostDevice device;
  auto plan = plan_tiny(model, device.caps(), {.context = 256, .max_rows = 0, .target = target});
  if (!plan) return plan.error().text;
  EXPECT_TRUE(plan->buffers.allocate(device));
  const Weights weights(plan->weights, plan->buffers);
  const Decoder& decoder = plan->decoder;
  return describe(decoder.record_body(weights, plan->buffers, 1).recording) + "-- prefill\n" +
         describe(decoder.record_body(weights, plan->buffers, decoder.options().max_rows).recording) +
         "-- head\n" + describe(decoder.record_head(weights, plan->buffers)) +
         describe(decoder.record_penalise(plan->buffers)) + describe(decoder.record_argmax(plan->buffers)) +
         describe(decoder.record_sample(plan->buffers)) + describe(decoder.record_advance(plan->buffers));
}

void expect_snapshot(const std::string& name, const std::string& text) {
  const std::string path = "tests/plan/" + name + ".txt";
  if (std::getenv("ZTVM_UPDATE_SNAPSHOTS") != nullptr) {
    std::ofstream(std::string(ZTVM_SOURCE_DIR) + "/" + path, std::ios::binary) << text;
  }
  EXPECT_EQ(text, test::read_source_file(path))
      << path << " differs; ZTVM_UPDATE_SNAPSHOTS=1 writes it anew.";
}

constexpr gpu::Target k_cpu = {.cpu = true};
constexpr gpu::Target k_gpu = {.cpu = false, .f16 = true, .subgroups = true};
const std::string k_llama = "llama/model/tiny-smollm2.Q4_1.gguf";

TEST(PlanSnapshot, TinyLlamaOnACpuAdapter) { expect_snapshot("tiny_llama_cpu", record_tiny(k_llama, k_cpu)); }
TEST(PlanSnapshot, TinyLlamaOnAGpu) { expect_snapshot("tiny_llama_gpu_f16", record_tiny(k_llama, k_gpu)); }
TEST(PlanSnapshot, TinyQwen35OnAGpu) {
  expect_snapshot("tiny_qwen35_gpu_f16", record_tiny("qwen35/model", k_gpu));
}
TEST(PlanSnapshot, TinyQwen36OnAGpu) {
  expect_snapshot("tiny_qwen36_gpu_f16", record_tiny("qwen36/model", k_gpu));
}

class SmallLimits : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Families, SmallLimits,
                         testing::Values("llama/model/tiny-smollm2.Q4_1.gguf", "phi3/model", "qwen36/model"));

TEST_P(SmallLimits, LargeMatricesAreSplit) {
  gpu::HostDevice device;
  // The least that one head's recurrent state needs.
  constexpr std::uint64_t k_limit = 24576;
  device.mutable_caps().max_binding_bytes = k_limit;
  const auto plan = plan_tiny(GetParam(), device.caps(), {.context = 16, .max_rows = 0, .target = k_cpu});
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_LE(plan->memory.largest_buffer_bytes, k_limit);
}

TEST(SmallLimits, AContextThatDoesNotFitIsRefusedWithNumbers) {
  gpu::HostDevice device;
  device.mutable_caps().max_binding_bytes = 65536;
  const auto plan =
      plan_tiny("qwen3/model", device.caps(), {.context = 4000, .max_rows = 0, .target = k_cpu});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::out_of_memory);
  EXPECT_NE(plan.error().text.find("65536"), std::string::npos) << plan.error().text;
  const auto fitting =
      plan_tiny("qwen3/model", device.caps(), {.context = 0, .max_rows = 0, .target = k_cpu});
  ASSERT_TRUE(fitting) << fitting.error().text;
  EXPECT_EQ(fitting->context, fitting->memory.max_context);
}

}  // namespace
}  // namespace ztvm::model
