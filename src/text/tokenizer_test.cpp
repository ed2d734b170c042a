// Properties that hold for every tokenizer.
#include "text/tokenizer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "support/tokenizer_data.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

using Ids = std::vector<TokenId>;

class TokenizerTest : public testing::TestWithParam<std::string> {
 protected:
  const Tokenizer& tokenizer() const { return tests::get_tokenizer(GetParam()); }
};

TEST_P(TokenizerTest, TakesAnyBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (std::size_t n = random() % 60; n > 0; --n) bytes.push_back(static_cast<char>(random() % 256));
    std::string valid;
    append_valid_utf8(valid, bytes);
    const Ids ids = tokenizer().encode(bytes, AddedTokens::on);
    EXPECT_EQ(ids, tokenizer().encode(valid, AddedTokens::on));
    EXPECT_TRUE(tokenizer().decode(ids, false));
  }
}

TEST_P(TokenizerTest, ContentNeverBecomesASpecialToken) {
  const Tokenizer& t = tokenizer();
  std::string everything;
  for (TokenId id = 0; id < t.vocab_size(); ++id) {
    if (!t.is_added(id)) continue;
    const std::string content(t.token(id).value());
    everything += content + " ";
    for (const std::string& text : {content, " " + content, content + content, "a" + content + "\n"}) {
      for (const TokenId encoded : t.encode(text, AddedTokens::off)) {
        EXPECT_FALSE(t.is_special(encoded) && t.token(encoded).value() == content) << content;
      }
    }
  }
  const Segment segment{.origin = Origin::content, .text = everything};
  EXPECT_EQ(t.encode(std::span(&segment, 1)), t.encode(everything, AddedTokens::off));
}

TEST_P(TokenizerTest, TemplateSegmentsEncodeAsTextDoes) {
  for (const OrderedJson& row : tests::read_golden_rows(GetParam() + ".jsonl")) {
    const Segment segment{.origin = Origin::chat_template, .text = row["text"].get<std::string>()};
    EXPECT_EQ(tokenizer().encode(std::span(&segment, 1)), row["ids"].get<Ids>()) << row.dump();
  }
}

TEST_P(TokenizerTest, EncodesLongTextsInReasonableTime) {
  // Twenty times what it takes with sanitizers, for loaded machines: a cubic algorithm would take minutes.
  constexpr std::chrono::seconds k_limit{6};
  for (const std::string_view unit :
       {"word and word, 12345. ", "a", " ", "<", "\n", "\u00E9", "\U0001F600"}) {
    std::string text;
    while (text.size() < 16'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const Ids ids = tokenizer().encode(text, AddedTokens::on);
    EXPECT_LT(std::chrono::steady_clock::now() - start, k_limit) << unit;
    EXPECT_EQ(tokenizer().decode(ids, false).value().size(), text.size()) << unit;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerTest, testing::ValuesIn(tests::k_tokenizer_names),
                         [](const auto& parameter) { return parameter.param; });

TEST(TokenizerVectors, KnownIdsOfTheGenuineFiles) {
  const Tokenizer& phi3 = tests::get_tokenizer("phi3");
  EXPECT_EQ(phi3.encode("Hello world", AddedTokens::on), (Ids{15043, 3186}));
  EXPECT_EQ(phi3.encode("<|user|>\nHi<|end|>\n<|assistant|>\n", AddedTokens::on),
            (Ids{32010, 6324, 32007, 32001}));
  const Tokenizer& qwen3 = tests::get_tokenizer("qwen3");
  EXPECT_EQ(qwen3.encode("<think>\nreasoning here\n</think>\n\nanswer", AddedTokens::on),
            (Ids{151667, 198, 19895, 287, 1588, 198, 151668, 271, 9217}));
}

}  // namespace
}  // namespace ztvm::text
