#include "base/json.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
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

TEST(Json, UniqueKeysGiveTheSameTree) {
  const std::string_view text =
      R"( {"a": [1, -2, 2.5, [], {}], "b": {"a": {"c": null}, "d": true}, "": "x\u00e9", "e": 18446744073709551615} )";
  EXPECT_EQ(parse_json_unique(text, "a.json").value(), parse_json(text, "a.json").value());
  for (const std::string_view scalar : {"1", "\"x\"", "[]", "null", "\xEF\xBB\xBF{}"}) {
    EXPECT_EQ(parse_json_unique(scalar, "a.json").value(), parse_json(scalar, "a.json").value());
  }
  EXPECT_TRUE(parse_json_unique(R"([{"a":1},{"a":2,"b":{"a":3}}])", "a.json"));
  EXPECT_FALSE(parse_json_unique(R"([{"b":{"a":3,"a":4}}])", "a.json"));
  EXPECT_EQ(parse_json_unique("{\n\"a\": 1e999}", "a.json").error().text,
            parse_json("{\n\"a\": 1e999}", "a.json").error().text);
}

TEST(Json, UniqueKeysTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("\"{}\":{{\"a\":{{}}}},", i);
  text += "\"last\":1}";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json_unique(text, "a.json").value().size(), 50'001u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::seconds(20));  // it took hours for four times as many
}

}  // namespace
}  // namespace ztvm
