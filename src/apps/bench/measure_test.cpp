// Whether a measurement fits into the context of a model.
#include "apps/bench/measure.hpp"

#include <gtest/gtest.h>

namespace ztvm::app {
namespace {

const bench::BenchOptions k_deep = {.prompt_tokens = 8, .gen_tokens = 9, .depths = {0, 90}, .repeat = 1};

TEST(WiderContext, IsTakenWhereNobodyAskedForAnother) {
  EXPECT_EQ(wider_context(k_deep, 0, {.context = 100, .max_context = 100}).value(), 0u);
  EXPECT_EQ(wider_context(k_deep, 0, {.context = 99, .max_context = 4096}).value(), 100u);
}

TEST(WiderContext, ADepthBeyondTheContextIsRefused) {
  for (const auto& [asked, most] : {std::pair(0u, 99u), {99u, 4096u}}) {
    const auto wider = wider_context(k_deep, asked, {.context = 99, .max_context = most});
    ASSERT_FALSE(wider);
    EXPECT_EQ(wider.error().text,
              "--depth, --prompt-tokens and --gen-tokens need a context of 100 tokens, but it holds 99; "
              "--context can ask for " +
                  std::to_string(most) + " at most.");
  }
}

}  // namespace
}  // namespace ztvm::app
