#include "engine/passes.hpp"

#include <gtest/gtest.h>

namespace ztvm::engine {
namespace {

using Rows = std::vector<std::uint32_t>;

TEST(RecordedRows, EndWithTheMostAndAreDifferent) {
  const gpu::Target without = {.cpu = false, .f16 = true, .subgroups = true};
  gpu::Target with = without;
  with.matrices = true;
  EXPECT_EQ(recorded_rows(1, without), (Rows{1}));
  EXPECT_EQ(recorded_rows(32, without), (Rows{1, 32}));
  EXPECT_EQ(recorded_rows(512, without), (Rows{1, 32, 512}));
  EXPECT_EQ(recorded_rows(100, with), (Rows{1, 32, 100}));
  EXPECT_EQ(recorded_rows(128, with), (Rows{1, 32, 128}));
  EXPECT_EQ(recorded_rows(512, with), (Rows{1, 32, 128, 512}));
}

}  // namespace
}  // namespace ztvm::engine
