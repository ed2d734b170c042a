// The text side of a GGUF as Llama-2's converters write it: scores in place of merges.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/text_parts.hpp"
#include "gguf_builder.hpp"
#include "load/gguf.hpp"
#include "support/tokenizer_data.hpp"

namespace ztvm::engine {
namespace {

using test::GgufBuilder;
using Ids = std::vector<text::TokenId>;

Result<TextParts> read(GgufBuilder& builder) {
  builder.n_data_bytes = 512;
  const std::string bytes = builder.file();
  auto parsed = load::parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  if (!parsed) return forward(parsed);
  return read_text_parts(std::get<load::GgufFile>(*parsed).metadata);
}

// Llama 2's scores fall with the id, after the control and byte tokens; rows of spaces come last of all.
float score_of(std::size_t id, std::string_view token) {
  const bool is_spaces = token.find_first_not_of("\u2581") == std::string_view::npos;
  if (is_spaces && id >= 259) return -1e9f;
  return id < 259 ? 0.0f : 259.0f - static_cast<float>(id);
}

GgufBuilder llama2() {
  const text::VocabJson& file = tests::get_vocab("llama2");
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
  for (text::TokenId id = 0; id < file.vocab.size(); ++id) {
    tokens.emplace_back(file.vocab.token(id).value_or(""));
    scores.push_back(score_of(id, tokens.back()));
    types.push_back(id == 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1);
  }
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", tokens);
  builder.floats("tokenizer.ggml.scores", scores).ints("tokenizer.ggml.token_type", types);
  builder.scalar("tokenizer.ggml.bos_token_id", 4, 1u).scalar("tokenizer.ggml.eos_token_id", 4, 2u);
  builder.scalar("tokenizer.ggml.unknown_token_id", 4, 0u);
  return builder;
}

TEST(GgufText, EncodesByScores) {
  GgufBuilder builder = llama2();
  const auto text = read(builder);
  ASSERT_TRUE(text) << text.error().text;
  std::size_t n_rows = 0;
  for (const OrderedJson& row : tests::read_golden_rows("llama2.jsonl")) {
    const std::string given = row["text"].get<std::string>();
    if (given.find("<unk>") != std::string::npos) continue;  // a GGUF says of it that it is no control token
    EXPECT_EQ(text->tokenizer.encode(given, text::AddedTokens::on), row["ids"].get<Ids>()) << given;
    ++n_rows;
  }
  EXPECT_GT(n_rows, 20u);
  EXPECT_EQ(text->tokenizer.bos_prefix().size(), 1u);
}

TEST(GgufText, ASpaceInFrontIsLeftOutIfTheFileSaysSo) {
  GgufBuilder with = llama2();
  GgufBuilder without = llama2();
  without.scalar<std::uint8_t>("tokenizer.ggml.add_space_prefix", 7, 0);
  const auto text = read(without);
  ASSERT_TRUE(text) << text.error().text;
  EXPECT_EQ(text->tokenizer.encode(" Hello", text::AddedTokens::on),
            read(with)->tokenizer.encode("Hello", text::AddedTokens::on));
  EXPECT_EQ(text->tokenizer.decode(text->tokenizer.encode("Hello", text::AddedTokens::on), false).value(),
            "Hello");
}

TEST(GgufText, RefusesScoresThatAreNone) {
  for (const auto& [scores, sentence] : {
           std::pair(std::vector<float>{1.0f}, "1 elements for 2 tokens"),
           std::pair(std::vector<float>{1.0f, NAN}, "a score for token 1 that is not a number"),
       }) {
    GgufBuilder builder;
    builder.text("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", {"a", "b"});
    builder.floats("tokenizer.ggml.scores", scores);
    builder.scalar<std::uint8_t>("tokenizer.ggml.add_bos_token", 7, 0);
    const auto text = read(builder);
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().text.find(sentence), std::string::npos) << text.error().text;
    EXPECT_NE(text.error().text.find("x.gguf"), std::string::npos) << text.error().text;
  }
}

}  // namespace
}  // namespace ztvm::engine
