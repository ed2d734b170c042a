#include "engine/true_shapes.hpp"

#include <gtest/gtest.h>

namespace ztvm::engine {
namespace {

TEST(TrueShapes, AnUnknownAliasListsTheKnownOnes) {
  const auto shape = true_shape("gpt5");
  ASSERT_FALSE(shape);
  EXPECT_NE(shape.error().text.find("qwen36"), std::string::npos) << shape.error().text;
}

}  // namespace
}  // namespace ztvm::engine
