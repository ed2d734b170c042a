#include "apps/cli/command.hpp"

#include <fmt/format.h>
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

// What a validator says of `text`; empty: nothing.
std::string said(const CLI::Validator& validator, const std::string& text) {
  std::string copy = text;
  return validator(copy);
}

TEST(WholeNumber, RefusesTheRest) {
  const CLI::Validator validator = whole_number(1, 4294967295);
  for (const char* text : {"1", "10", "4294967295"}) EXPECT_EQ(said(validator, text), "") << text;
  for (const char* text : {"", " 1", "1 ", "0", "-1", "+1", "01", "1.0", "1e3", "0x10", "nan", "inf", "1x",
                           "4294967296", "99999999999999999999999"}) {
    EXPECT_EQ(said(validator, text), fmt::format("\"{}\" is no whole number from 1 to 4294967295", text));
  }
}

TEST(RealNumber, RefusesTheRest) {
  const CLI::Validator validator = real_number(0, 100, true);
  for (const char* text : {"0", "0.7", "1e1", "100", ".5"}) EXPECT_EQ(said(validator, text), "") << text;
  for (const char* text : {"", " 1", "1 ", "nan", "-nan", "NaN", "inf", "-inf", "infinity", "1e39", "1e-60",
                           "1e999", "-1", "-0.01", "100.01", "0.7x", "1,5", "0x10", "--"}) {
    EXPECT_EQ(said(validator, text), fmt::format("\"{}\" is no number from 0 to 100", text));
  }
  EXPECT_EQ(said(real_number(0, 1, false), "0"), "\"0\" is no number above 0 and up to 1");
  EXPECT_EQ(said(real_number(0, 1, false), "1"), "");
}

}  // namespace
}  // namespace ztvm::app
