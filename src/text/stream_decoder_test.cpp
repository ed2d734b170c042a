#include "text/stream_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/tokenizer_data.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

using Ids = std::vector<TokenId>;

class StreamDecoderTest : public testing::TestWithParam<std::string> {};

// Pushes one id at a time; each piece must be whole characters.
std::string stream(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  StreamDecoder decoder(tokenizer, skip_special);
  std::string all;
  const auto take = [&](const std::string& piece) {
    EXPECT_TRUE(is_valid_utf8(piece));
    all += piece;
  };
  for (const TokenId id : ids) {
    std::string piece;
    EXPECT_TRUE(decoder.push(id, piece));
    take(piece);
  }
  std::string piece;
  decoder.finish(piece);
  take(piece);
  return all;
}

TEST_P(StreamDecoderTest, EqualsDecodingTheWholeListOfRandomIds) {
  const Tokenizer& tokenizer = tests::get_tokenizer(GetParam());
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    Ids ids;
    // Low ids are bytes and control tokens: the hard cases.
    const std::size_t highest = round % 2 == 0 ? 300 : tokenizer.vocab_size();
    for (std::size_t n = random() % 20; n > 0; --n) {
      const auto id = static_cast<TokenId>(random() % highest);
      if (tokenizer.token(id)) ids.push_back(id);
    }
    for (const bool skip_special : {false, true}) {
      EXPECT_EQ(stream(tokenizer, ids, skip_special), tokenizer.decode(ids, skip_special).value());
    }
  }
}

TEST_P(StreamDecoderTest, GivesTextBackWithoutReplacementCharacters) {
  const Tokenizer& tokenizer = tests::get_tokenizer(GetParam());
  const std::string text =
      "Familie \U0001F468\u200D\U0001F469\u200D\U0001F467 \u4F60\u597D, na\u00EFve \U0001F44D\U0001F3FD!";
  StreamDecoder decoder(tokenizer, false);
  std::string all;
  for (const TokenId id : tokenizer.encode(text, AddedTokens::on)) {
    ASSERT_TRUE(decoder.push(id, all));
    EXPECT_EQ(all.find(k_replacement_character), std::string::npos);
    EXPECT_TRUE(is_valid_utf8(all));
  }
  decoder.finish(all);
  EXPECT_EQ(all, text);
}

TEST_P(StreamDecoderTest, RefusesIdsOutsideTheVocabularyAndGoesOn) {
  const Tokenizer& tokenizer = tests::get_tokenizer(GetParam());
  StreamDecoder decoder(tokenizer, false);
  std::string text;
  for (const auto id : {static_cast<TokenId>(tokenizer.vocab_size()), TokenId{0xFFFFFFFF}}) {
    const Result<void> pushed = decoder.push(id, text);
    ASSERT_FALSE(pushed);
    EXPECT_NE(pushed.error().text.find(std::to_string(id)), std::string::npos) << pushed.error().text;
    EXPECT_NE(pushed.error().text.find(std::to_string(tokenizer.vocab_size())), std::string::npos);
  }
  for (const TokenId id : tokenizer.encode("fine", AddedTokens::on)) ASSERT_TRUE(decoder.push(id, text));
  decoder.finish(text);
  EXPECT_EQ(text, "fine");
}

INSTANTIATE_TEST_SUITE_P(All, StreamDecoderTest, testing::ValuesIn(tests::k_tokenizer_names),
                         [](const auto& parameter) { return parameter.param; });

TEST(StreamDecoder, BeginsAnewAfterFinish) {
  const Tokenizer& tokenizer = tests::get_tokenizer("phi3");
  StreamDecoder decoder(tokenizer, false);
  for (int round = 0; round < 2; ++round) {
    std::string text;
    ASSERT_TRUE(decoder.push(15043, text));  // "▁Hello": its space goes at the start of a text only
    ASSERT_TRUE(decoder.push(3186, text));
    decoder.finish(text);
    EXPECT_EQ(text, "Hello world");
  }
}

}  // namespace
}  // namespace ztvm::text
