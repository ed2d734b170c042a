// The figures of a tiny model's load hold together.
#include "apps/bench/measure_load.hpp"

#include <gtest/gtest.h>

#include "support/test_adapter.hpp"

namespace ztvm::app {
namespace {

TEST(MeasureLoad, CountsWhatATinyModelReads) {
  if (!open_device(engine::Backend::gpu, test_adapter())) GTEST_SKIP() << "no adapter";
  const std::string folder = ZTVM_SOURCE_DIR "/tests/golden/qwen36/model";
  const auto figures = measure_load({.model = folder, .device = test_adapter()}, /*repeat=*/2);
  ASSERT_TRUE(figures) << figures.error().text;
  EXPECT_GT(figures->n_weight_bytes, 1u << 20);
  EXPECT_LE(figures->n_weight_bytes, figures->n_file_bytes);
  EXPECT_GT(figures->n_reads, 100u);
  EXPECT_EQ(figures->cold.load_bytes_per_s.values.size(), 2u);
  EXPECT_EQ(figures->warm.plain_bytes_per_s.values.size(), 2u);
  EXPECT_GT(figures->warm.ratio(), 0.0);
  EXPECT_GT(figures->peak_bytes, figures->peak_weights_bytes);
}

}  // namespace
}  // namespace ztvm::app
