// Snapshots of the recorded ops: a refactor keeps them byte for byte. ZTVM_UPDATE_SNAPSHOTS=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

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
    text += " buffers";
    for (const gpu::Binding& binding : op.bindings) {
      text += fmt::format(" {}{}", binding.access == gpu::Access::read ? "" : "*",
                          static_cast<std::uint32_t>(binding.tensor.buffer));
    }
    text += "\n";
  }
  return text;
}

std::string record_tiny_llama(const gpu::Target& target) {
  const std::string bytes = test::read_source_file("tests/golden/llama/model/tiny-smollm2.Q4_1.gguf");
  auto parsed = load::parse_gguf(std::as_bytes(std::span(bytes)), "tiny", bytes.size());
  gpu::HostDevice device;
  auto plan = engine::plan_model(std::move(std::get<load::GgufFile>(*parsed)), UINT32_MAX, device.caps(),
                                 {.context = 256, .max_rows = 0, .target = target});
  EXPECT_TRUE(plan && plan->buffers.allocate(device));
  const Weights weights = plan->weights.bind(plan->buffers);
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

TEST(PlanSnapshot, TinyLlamaOnACpuAdapter) {
  expect_snapshot("tiny_llama_cpu", record_tiny_llama({.cpu = true}));
}
TEST(PlanSnapshot, TinyLlamaOnAGpu) {
  expect_snapshot("tiny_llama_gpu_f16", record_tiny_llama({.cpu = false, .f16 = true, .subgroups = true}));
}

TEST(PlanSnapshot, LargeMatricesAreSplitAtTheBindingLimit) {
  const std::string bytes = test::read_source_file("tests/golden/llama/model/tiny-smollm2.Q4_1.gguf");
  auto parsed = load::parse_gguf(std::as_bytes(std::span(bytes)), "tiny", bytes.size());
  gpu::HostDevice device;
  device.mutable_caps().max_binding_bytes = 16384;
  auto plan = engine::plan_model(std::move(std::get<load::GgufFile>(*parsed)), UINT32_MAX, device.caps(),
                                 {.context = 16, .max_rows = 0, .target = {.cpu = true}});
  ASSERT_TRUE(plan) << plan.error().text;
  for (const PlannedBuffer& buffer : plan->buffers.planned()) {
    if (buffer.role == BufferRole::weights) EXPECT_LE(buffer.n_bytes, 16384u) << buffer.label;
  }
}

}  // namespace
}  // namespace ztvm::model
