#include "apps/cli/command.hpp"

#include <gtest/gtest.h>

namespace ztvm::app {
namespace {

TEST(ParseIds, ReadsNumbers) {
  EXPECT_EQ(parse_ids("1,2,3").value(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(parse_ids("0").value(), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(parse_ids("4294967295").value(), (std::vector<std::uint32_t>{4294967295u}));
}

TEST(ParseIds, RefusesTheRest) {
  for (const char* text :
       {"", ",", "1,", ",1", "1,,2", "-1", "+1", "1.5", "a", "1 ,2", "4294967296", "0x10"}) {
    const auto ids = parse_ids(text);
    ASSERT_FALSE(ids) << text;
    EXPECT_EQ(ids.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace ztvm::app
