// What a tokenizer.json may say and may not, on a vocabulary of a few characters.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/tokenizer_data.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::text {
namespace {

using Ids = std::vector<TokenId>;

Json small_json() {
  return Json::parse(R"({
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
    "decoder": {"type": "ByteLevel"},
    "post_processor": null,
    "added_tokens": [{"id": 5, "content": "<e>", "special": true}],
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4},
              "merges": ["a b", ["Ġ", "ab"]]}
  })");
}

template <typename Change>
std::string refused(Change change) {
  Json json = small_json();
  change(json);
  const Result<Tokenizer> tokenizer = Tokenizer::from_json(json.dump());
  return tokenizer ? std::string("accepted") : tokenizer.error().text;
}

TEST(TokenizerJson, ReadsMergesAsStringsAndAsPairs) {
  const Result<Tokenizer> tokenizer = Tokenizer::from_json(small_json().dump());
  ASSERT_TRUE(tokenizer) << tokenizer.error().text;
  EXPECT_EQ(tokenizer->encode("ab ab<e>", AddedTokens::on), (Ids{3, 4, 5}));
  EXPECT_EQ(tokenizer->vocab_size(), 6u);
  EXPECT_TRUE(tokenizer->bos_prefix().empty());
}

TEST(TokenizerJson, CharactersWithoutTokenVanishOrBecomeUnknown) {
  Json json = small_json();
  EXPECT_EQ(Tokenizer::from_json(json.dump())->encode("axxb", AddedTokens::on), Ids{3});
  json["model"]["unk_token"] = "Ġ";
  EXPECT_EQ(Tokenizer::from_json(json.dump())->encode("axxb", AddedTokens::on), (Ids{0, 2, 2, 1}));
  json["model"]["fuse_unk"] = true;
  EXPECT_EQ(Tokenizer::from_json(json.dump())->encode("axxb", AddedTokens::on), (Ids{0, 2, 1}));
}

TEST(TokenizerJson, KnowsTheBosPrefix) {
  EXPECT_EQ(Ids(tests::get_tokenizer("llama3").bos_prefix().begin(),
                tests::get_tokenizer("llama3").bos_prefix().end()),
            Ids{128000});
  EXPECT_EQ(tests::get_tokenizer("mistral").bos_prefix().size(), 1u);
  EXPECT_TRUE(tests::get_tokenizer("phi3").bos_prefix().empty());
}

TEST(TokenizerJson, ShowsNamesOfAFileAsTerminalsCan) {
  EXPECT_EQ(refused([](Json& j) { j["decoder"]["type"] = "\x1b[2J"; }).find('\x1b'), std::string::npos);
  EXPECT_EQ(refused([](Json& j) { j["model"]["type"] = "\x7f"; }).find('\x7f'), std::string::npos);
  EXPECT_EQ(refused([](Json& j) { j["model"]["merges"] = {"\x1b a"}; }).find('\x1b'), std::string::npos);
  EXPECT_EQ(refused([](Json& j) { j["added_tokens"][0] = {{"id", -1}, {"content", "\x1b"}}; }).find('\x1b'),
            std::string::npos);
  EXPECT_LT(refused([](Json& j) { j["normalizer"] = {{"type", std::string(100'000, 'z')}}; }).size(), 300u);
}

TEST(TokenizerJson, SaysWhereItIsNoJson) {
  const Result<Tokenizer> tokenizer = Tokenizer::from_json("{\"model\": {\n\"vocab\": {\"a\": ]}}}");
  ASSERT_FALSE(tokenizer);
  EXPECT_NE(tokenizer.error().text.find("is not valid JSON at line 2, column 16, where \"]\" stands."),
            std::string::npos)
      << tokenizer.error().text;
}

TEST(TokenizerJson, RefusesComponentsItDoesNotKnow) {
  EXPECT_EQ(refused([](Json& j) { j["model"]["type"] = "Unigram"; }),
            "The model of tokenizer.json is of type \"Unigram\", expected \"BPE\".");
  EXPECT_EQ(refused([](Json& j) {
              j["model"]["type"] = "Unigram";
              j["model"]["vocab"] = {{"a", 0.0}, {"b", -1.0}, {"c"}};
            }),
            "tokenizer.json: The model is of type \"Unigram\", expected \"BPE\".");
  EXPECT_EQ(refused([](Json& j) { j["model"]["dropout"] = 0.1; }),
            "The model of tokenizer.json has dropout 0.1, which this engine does not support.");
  EXPECT_EQ(refused([](Json& j) { j["normalizer"] = {{"type", "Lowercase"}}; }),
            "The normalizer of tokenizer.json is \"Lowercase\", which this engine does not know.");
  EXPECT_EQ(refused([](Json& j) { j["pre_tokenizer"] = {{"type", "Whitespace"}}; }),
            "The pre_tokenizer of tokenizer.json is \"Whitespace\", which this engine does not know.");
  EXPECT_EQ(refused([](Json& j) {
              j["pre_tokenizer"] = {
                  {"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}};
            }),
            "The pre_tokenizer of tokenizer.json splits by the pattern {\"Regex\":\"\\\\w+\"}, which this "
            "engine does "
            "not know.");
  EXPECT_EQ(refused([](Json& j) { j["decoder"] = {{"type", "WordPiece"}}; }),
            "The decoder of tokenizer.json has \"WordPiece\" which this engine does not know.");
  EXPECT_EQ(refused([](Json& j) { j["decoder"] = nullptr; }),
            "tokenizer.json has no decoder, so its tokens cannot become text.");
  EXPECT_EQ(refused([](Json& j) { j["post_processor"] = {{"type", "BertProcessing"}}; }),
            "The post_processor of tokenizer.json is \"BertProcessing\", which this engine does not know.");
}

TEST(TokenizerJson, RefusesWhatContradictsItself) {
  EXPECT_EQ(refused([](Json& j) { j["model"].erase("vocab"); }),
            "The model of tokenizer.json has no vocabulary.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["vocab"]["c"] = -1; }),
            "tokenizer.json: The vocabulary gives token \"c\" the id -1, expected 0 to 4194303.");
  EXPECT_EQ(
      refused([](Json& j) { j["model"]["vocab"]["c"] = 18446744073709551615u; }),
      "tokenizer.json: The vocabulary gives token \"c\" the id 18446744073709551615, expected 0 to 4194303.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["vocab"]["c"] = "x"; }),
            "tokenizer.json: model.vocab gives the token \"c\" no integer as its id.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["vocab"]["c"] = {{"d", 1}}; }),
            "tokenizer.json: model.vocab gives the token \"c\" no integer as its id.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["merges"].push_back(7); }),
            "tokenizer.json: Entry 2 of model.merges is neither \"left right\" nor a pair of strings.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["merges"].push_back({"a"}); }),
            "tokenizer.json: Entry 2 of model.merges is neither \"left right\" nor a pair of strings.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["merges"].push_back("b a"); }),
            "Merge 2 (\"b\" + \"a\") needs the token \"ba\", which the vocabulary lacks.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["unk_token"] = "?"; }),
            "The model of tokenizer.json names the unk_token \"?\", which the vocabulary lacks.");
  EXPECT_EQ(refused([](Json& j) { j["added_tokens"][0]["content"] = "a"; }),
            "tokenizer.json gives the added token \"a\" the id 5, but 0 in the vocabulary.");
  EXPECT_EQ(refused([](Json& j) { j["added_tokens"][0]["id"] = "5"; }),
            "An entry of added_tokens in tokenizer.json has a string in field \"id\", expected an integer "
            "below 2^63.");
  EXPECT_EQ(refused([](Json& j) { j["model"]["byte_fallback"] = true; }),
            "The byte-level vocabulary has byte_fallback but no token for byte 0.");
}

TEST(TokenizerJson, RefusesWhatItHasTwice) {
  EXPECT_EQ(refused([](Json& j) { j["added_tokens"].push_back({{"id", 6}, {"content", "<e>"}}); }),
            "tokenizer.json has the added token \"<e>\" twice, with the ids 5 and 6.");
  EXPECT_EQ(refused([](Json& j) { j["added_tokens"].push_back({{"id", 5}, {"content", "<f>"}}); }),
            "tokenizer.json gives the id 5 to two added tokens, \"<e>\" and \"<f>\".");
  const auto refused_text = [](std::string_view from, std::string_view to) {
    std::string text = small_json().dump();
    text.replace(text.find(from), from.size(), to);
    const Result<Tokenizer> tokenizer = Tokenizer::from_json(text);
    return tokenizer ? std::string("accepted") : tokenizer.error().text;
  };
  EXPECT_EQ(refused_text("\"ab\":3", "\"ab\":3,\"ab\":9"),
            "tokenizer.json: The vocabulary has the token \"ab\" twice.");
  EXPECT_EQ(refused_text("\"model\":", "\"decoder\":{},\"model\":"),
            "tokenizer.json: An object has the key \"decoder\" twice.");
  EXPECT_EQ(refused_text("\"merges\":", "\"merges\":[],\"merges\":"),
            "tokenizer.json: An object has the key \"merges\" twice.");
}

TEST(TokenizerJson, ReadsAWideObjectInLinearTime) {
  std::string text = small_json().dump();
  std::string wide = "\"decoder\":{";
  for (int i = 0; i < 50'000; ++i) wide += "\"" + std::to_string(i) + "\":{\"a\":{}},";
  text.replace(text.find("\"decoder\":{"), std::string("\"decoder\":{").size(), wide);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Tokenizer::from_json(text));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(TokenizerJson, RefusesDeepNestingWithoutRecursion) {
  constexpr std::size_t k_depth = 1'000'000;
  const std::string text = "{\"decoder\": " + std::string(k_depth, '[') + std::string(k_depth, ']') + "}";
  const Result<Tokenizer> tokenizer = Tokenizer::from_json(text);
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().text, "tokenizer.json: It nests deeper than 64 levels.");
}

TEST(TokenizerJson, RefusesWhatIsNoTokenizer) {
  for (const std::string_view text :
       {"", "[]", "{}", "null", "7", "{\"model\": []}", "{\"model\": {\"vocab\": []}}", "<html>",
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0"}) {
    EXPECT_FALSE(Tokenizer::from_json(text)) << text;
  }
}

}  // namespace
}  // namespace ztvm::text
