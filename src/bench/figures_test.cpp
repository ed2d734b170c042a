#include "bench/figures.hpp"

#include <gtest/gtest.h>

namespace ztvm::bench {
namespace {

TEST(BenchFigures, ContextHoldsTheDeepestRun) {
  EXPECT_EQ(needed_context({.prompt_tokens = 512, .gen_tokens = 128, .depths = {0, 128}, .repeat = 1}), 513u);
  EXPECT_EQ(needed_context({.prompt_tokens = 8, .gen_tokens = 4, .depths = {0, 20}, .repeat = 1}), 25u);
}

TEST(BenchFigures, ARateAboveTheStreamIsAnErrorUnlessACacheMayGiveIt) {
  BenchFigures figures;
  figures.stream_gb_per_s = 100.0;
  figures.decode.push_back({.depth = 0,
                            .tokens_per_s = {{101.0}},
                            .ttft_ms = {},
                            .total_tokens_per_s = {},
                            .bytes_per_token = 1'000'000'000});
  ASSERT_FALSE(check_roofline(figures));
  EXPECT_NE(check_roofline(figures).error().text.find("101 GB/s, above the 100 GB/s"), std::string::npos);
  figures.decode[0].bytes_per_token = 20'000'000;
  figures.stream_gb_per_s = 1.0;
  EXPECT_TRUE(check_roofline(figures));
}

}  // namespace
}  // namespace ztvm::bench
