// How many reads a tensor of interleaved experts costs, in which order, and with how much held.
#include "load/read_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "load/weight_stream.hpp"
#include "model_folder.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_words_bytes = 512u << 10;  // of one expert of Qwen3.6-35B-A3B
constexpr std::uint64_t k_scales_bytes = 32u << 10;

// The steps of `n` experts of gate or up, whose rows are apart in their buffer and beside each other in the file; biases,
// scales and words follow one another there.
std::vector<UploadStep> expert_steps(const std::string& tensor, std::uint64_t n, std::uint64_t offset) {
  std::vector<UploadStep> steps;
  const std::uint64_t scales = offset + n * k_scales_bytes;
  const std::uint64_t words = scales + n * k_scales_bytes;
  for (std::uint64_t i = 0; i < n; ++i) {
    steps.push_back({.tensor = tensor,
                     .sources = {{.range = {words + i * k_words_bytes, k_words_bytes}},
                                 {.range = {scales + i * k_scales_bytes, k_scales_bytes}},
                                 {.range = {offset + i * k_scales_bytes, k_scales_bytes}}}});
  }
  return steps;
}

TEST(ReadPlan, ExpertsOfOneTensorAreReadTogetherInFileOrder) {
  const auto steps = expert_steps("gate", 256, 0);
  const auto reads = plan_reads(steps);
  EXPECT_EQ(reads.size(), 2u + 2u + 32u);  // 8 MiB of biases, as many of scales, 128 MiB of words
  std::uint64_t end = 0;
  for (const PlannedRead& read : reads) {
    EXPECT_EQ(read.range.offset, end);
    EXPECT_LE(read.range.n_bytes, k_piece_bytes);
    end = read.range.end();
  }
  EXPECT_EQ(end, 256 * (k_words_bytes + 2 * k_scales_bytes));
}

TEST(ReadPlan, HoldsNoMoreThanItsBound) {
  const auto steps = expert_steps("gate", 64, 0);
  constexpr std::uint64_t k_bound = 10 * 2 * k_scales_bytes;
  std::uint64_t n_held = 0;
  std::map<std::size_t, std::size_t> next_step;  // of each part
  for (const PlannedRead& read : plan_reads(steps, k_piece_bytes, k_bound)) {
    EXPECT_EQ(read.first_step, next_step[read.part]);
    next_step[read.part] += read.n_steps;
    n_held = read.part == 0 ? n_held - read.n_steps * 2 * k_scales_bytes : n_held + read.range.n_bytes;
    EXPECT_LE(n_held, k_bound);
    if (read.part == 0) EXPECT_LE(next_step[0], std::min(next_step[1], next_step[2]));
  }
  for (const std::size_t part : {0u, 1u, 2u}) EXPECT_EQ(next_step[part], steps.size());
}

TEST(ReadPlan, GapsAndOtherTensorsAreNotReadOver) {
  auto steps = expert_steps("gate", 8, 0);
  steps.erase(steps.begin() + 3);
  const auto up = expert_steps("up", 2, 1u << 30);
  steps.insert(steps.end(), up.begin(), up.end());
  std::uint64_t n_bytes = 0;
  const auto reads = plan_reads(steps);
  for (const PlannedRead& read : reads) n_bytes += read.range.n_bytes;
  EXPECT_EQ(n_bytes, 9 * (k_words_bytes + 2 * k_scales_bytes));
  EXPECT_EQ(reads.size(), 6u + 3u);
}

// The bytes that reach the buffers do not depend on how they were read.
TEST(ReadPlan, ATinyModelArrivesWhole) {
  const auto folder = test::ModelFolder::open("tests/golden/qwen36/model");
  const Checkpoint checkpoint = test::read_model(folder).value().checkpoint;
  const TensorRecord* gate = checkpoint.find("language_model.model.layers.0.mlp.switch_mlp.gate_proj.weight");
  ASSERT_NE(gate, nullptr);
  const std::uint64_t n_experts = gate->shape[0];
  const std::uint64_t rows = gate->shape[1];
  std::vector<UploadRequest> apart;
  for (std::uint64_t e = 0; e < n_experts; ++e) {
    apart.push_back(
        {.tensor = gate,
         .first_row = e * rows,
         .targets = {{.words_slot = 0, .scales_slot = 1, .first_row = e * rows, .n_rows = rows}}});
  }
  const UploadRequest whole = {
      .tensor = gate,
      .targets = {{.words_slot = 0, .scales_slot = 1, .first_row = 0, .n_rows = gate->n_rows()}}};
  const auto read = [&](std::span<const UploadRequest> requests, std::uint64_t piece_bytes) {
    return test::read_weights(folder, checkpoint, plan_uploads(requests, checkpoint, piece_bytes).value())
        .value();
  };
  EXPECT_EQ(read(apart, k_piece_bytes), read({&whole, 1}, 1));
  EXPECT_EQ(plan_reads(plan_uploads(apart, checkpoint).value()).size(), 3u);
}

}  // namespace
}  // namespace ztvm::load
