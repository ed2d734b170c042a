// Memory of the activations: rows in whole numbers are as wide as the widest product's input.
#include "model/scratch.hpp"

#include <gtest/gtest.h>

namespace ztvm::model {
namespace {

// Bytes of the rows in whole numbers of a model of one layer, whose experts have three times the width of the stream; and of
// their scales.
std::pair<std::uint64_t, std::uint64_t> input_bytes(const gpu::Target& target, std::uint32_t max_rows) {
  ModelSpec spec;
  spec.dim = 64;
  spec.vocab = 100;
  spec.n_valid_ids = 100;
  spec.layers = {{.mixer = AttentionSpec{.n_heads = 2, .n_kv_heads = 1, .head_dim = 32},
                  .ffn = MoeSpec{.n_experts = 8, .n_active = 2, .expert_dim = 96, .shared_dim = 32}}};
  Buffers buffers;
  ScratchPlan::make(spec, target, 64, max_rows, buffers);
  std::pair<std::uint64_t, std::uint64_t> found;
  for (const PlannedBuffer& buffer : buffers.planned()) {
    if (buffer.label == "input in whole numbers") found.first = buffer.n_bytes;
    if (buffer.label == "scales of the input") found.second = buffer.n_bytes;
  }
  return found;
}

using Found = std::pair<std::uint64_t, std::uint64_t>;

TEST(ScratchPlan, WholeNumbersOfAllPairsOfARow) {
  EXPECT_EQ(input_bytes({}, 16), Found(16 * 192 * 2, 16 * 192 / 32 * 8));
  EXPECT_EQ(input_bytes({.int8 = true}, 16), Found(16 * 192, 16 * 192 / 32 * 8));
}

TEST(ScratchPlan, WholeNumbersOfFewRowsWhosePairsAreNotGrouped) {
  EXPECT_EQ(input_bytes({}, 3), Found(3 * 64 * 2, 3 * 64 / 32 * 8));
}

TEST(ScratchPlan, NoWholeNumbersOfARowNorOnACpuAdapter) {
  EXPECT_EQ(input_bytes({}, 1), Found(0, 0));
  EXPECT_EQ(input_bytes({.cpu = true}, 16), Found(0, 0));
}

}  // namespace
}  // namespace ztvm::model
