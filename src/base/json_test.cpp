#include "base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"

namespace ztvm {
namespace {

std::string error_of(std::string_view text) {
  const auto json = parse_json(text, "a.json");
  return json ? std::string("none") : json.error().text;
}

TEST(Json, SaysWhereItIsWrong) {
  EXPECT_EQ(error_of(R"({"a": x})"),
            "a.json (8 bytes) is not valid JSON at line 1, column 7, where \"x\" stands.");
  EXPECT_EQ(error_of("{\n  \"a\": 1,\n  \"b\" 2\n}"),
            "a.json (21 bytes) is not valid JSON at line 3, column 7, where \"2\" stands.");
  EXPECT_EQ(error_of("[1]]"), "a.json (4 bytes) is not valid JSON at line 1, column 4, where \"]\" stands.");
  EXPECT_EQ(error_of("[\"\x1b[31m\"]"),
            "a.json (9 bytes) is not valid JSON at line 1, column 3, where \"\\x1b\" stands.");
  EXPECT_EQ(error_of("[\"\xff\"]"),
            "a.json (5 bytes) is not valid JSON at line 1, column 3, where \"\\xff\" stands.");
}

TEST(Json, SaysWhereItEndsTooEarly) {
  EXPECT_EQ(error_of(""), "a.json (0 bytes) is not valid JSON: it ends too early, at line 1, column 1.");
  EXPECT_EQ(error_of("{\"a\": [1,\n"),
            "a.json (10 bytes) is not valid JSON: it ends too early, at line 2, column 1.");
  EXPECT_EQ(error_of("\"abc"), "a.json (4 bytes) is not valid JSON: it ends too early, at line 1, column 5.");
}

TEST(Json, RefusesNumbersThatNoDoubleHolds) {
  EXPECT_NE(error_of("[1e999]").find("is not valid JSON at line 1, column 6"), std::string::npos)
      << error_of("[1e999]");
}

TEST(Json, ShowsAKeyThatComesTwiceAsTerminalsCan) {
  const auto json = parse_json_unique(R"({"\u001b[2J": 1, "\u001b[2J": 2})", "a.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().text, "a.json has the key \"\\x1b[2J\" twice in one object.");
}

}  // namespace
}  // namespace ztvm
