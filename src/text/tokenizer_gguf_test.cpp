// The same golden rows through tokenizers built from GGUF metadata, which is made here from the
// tokenizer.json files.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/tokenizer_data.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::text {
namespace {

using Ids = std::vector<TokenId>;

GgufVocab gguf_of(const std::string& name, const std::string& model, const std::string& pre) {
  const VocabJson& file = tests::get_vocab(name);
  GgufVocab gguf{.model = model, .pre = pre};
  for (TokenId id = 0; id < file.vocab.size(); ++id)
    gguf.tokens.emplace_back(file.vocab.token(id).value_or(""));
  gguf.token_types.assign(gguf.tokens.size(), 1);
  for (const Json& added : file.rest["added_tokens"]) {
    const auto id = added["id"].get<std::size_t>();
    if (id >= gguf.tokens.size()) {
      gguf.tokens.resize(id + 1);
      gguf.token_types.resize(id + 1, 5);
    }
    gguf.tokens[id] = added["content"].get<std::string>();
    gguf.token_types[id] = added["special"].get<bool>() ? 3 : 4;
  }
  for (const MergePair& merge : file.merges) gguf.merges.push_back(merge.first + " " + merge.second);
  return gguf;
}

void expect_golden(const Tokenizer& tokenizer, const std::string& name) {
  for (const OrderedJson& row : tests::read_golden_rows(name + ".jsonl")) {
    const Ids ids = row["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.encode(row["text"].get<std::string>(), AddedTokens::on), ids) << row.dump();
    EXPECT_EQ(tokenizer.decode(ids, false).value(), row["decoded"].get<std::string>()) << row.dump();
  }
}

struct ByteLevelCase {
  std::string name;
  std::string pre;
};
class GgufByteLevel : public testing::TestWithParam<ByteLevelCase> {};

TEST_P(GgufByteLevel, EncodesTheGoldenTexts) {
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf_of(GetParam().name, "gpt2", GetParam().pre));
  ASSERT_TRUE(tokenizer) << tokenizer.error().text;
  expect_golden(*tokenizer, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, GgufByteLevel,
                         testing::Values(ByteLevelCase{"smollm2", "smollm"}, ByteLevelCase{"qwen3", "qwen2"},
                                         ByteLevelCase{"qwen35", "qwen35"},
                                         ByteLevelCase{"llama3", "llama-bpe"}),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(GgufMetaspace, EncodesTheGoldenTextsFromMerges) {
  for (const std::string name : {"phi3", "llama2"}) {
    GgufVocab gguf = gguf_of(name, "llama", "default");
    gguf.unk_id = 0;
    const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf);
    ASSERT_TRUE(tokenizer) << tokenizer.error().text;
    expect_golden(*tokenizer, name);
  }
}

TEST(GgufMetaspace, EncodesTheGoldenTextsFromScores) {
  GgufVocab gguf = gguf_of("llama2", "llama", "default");
  gguf.unk_id = 0;
  gguf.merges.clear();
  // Llama's scores fall with the id, after the control and byte tokens; rows of spaces come last of all.
  for (std::size_t id = 0; id < gguf.tokens.size(); ++id) {
    const bool is_spaces = replace_all(gguf.tokens[id], "\u2581", "").empty();
    const float score = id < 259 ? 0.0f : 259.0f - static_cast<float>(id);
    gguf.scores.push_back(is_spaces ? -1e9f : score);
  }
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf);
  ASSERT_TRUE(tokenizer) << tokenizer.error().text;
  expect_golden(*tokenizer, "llama2");
}

// Type 2, as converters write it: llama.cpp and transformers find its text as they find that of control tokens.
TEST(GgufMetaspace, TheUnknownTokenIsItsTextsToken) {
  GgufVocab gguf = gguf_of("llama2", "llama", "default");
  gguf.unk_id = 0;
  gguf.token_types[0] = 2;
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf);
  ASSERT_TRUE(tokenizer) << tokenizer.error().text;
  EXPECT_EQ(tokenizer->encode("<unk>", AddedTokens::on), Ids{0});
  EXPECT_GT(tokenizer->encode("<unk>", AddedTokens::off).size(), 1u);
  EXPECT_EQ(tokenizer->decode(Ids{0}, true).value(), "");
}

// A vocabulary of the letters a and b that is right in every way.
GgufVocab small_gguf() {
  return {.model = "gpt2",
          .pre = "smollm",
          .tokens = {"<|end|>", "a", "b", "ab"},
          .merges = {"a b"},
          .token_types = {3, 1, 1, 1},
          .bos_id = 0,
          .eos_id = 0};
}

TEST(GgufVocabChecks, AcceptsTheSmallVocabulary) {
  GgufVocab gguf = small_gguf();
  gguf.add_bos = true;
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf);
  ASSERT_TRUE(tokenizer) << tokenizer.error().text;
  EXPECT_EQ(tokenizer->encode("abba<|end|>", AddedTokens::on), (Ids{3, 2, 1, 0}));
  EXPECT_EQ(Ids(tokenizer->bos_prefix().begin(), tokenizer->bos_prefix().end()), Ids{0});
  EXPECT_EQ(tokenizer->eos(), 0u);
}

TEST(GgufVocabChecks, RefusesWhatContradictsItself) {
  const auto refused = [](auto change) {
    GgufVocab gguf = small_gguf();
    change(gguf);
    const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(gguf);
    return tokenizer ? std::string("accepted") : tokenizer.error().text;
  };
  EXPECT_EQ(refused([](GgufVocab& g) { g.model = "t5"; }),
            "tokenizer.ggml.model is \"t5\", expected gpt2 or llama.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.pre = "tekken"; }),
            "tokenizer.ggml.pre is \"tekken\", expected gpt-2, smollm, qwen2, qwen35 or llama-bpe.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.tokens.clear(); }),
            "tokenizer.ggml.tokens has 0 entries, expected 1 to 4194303.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.token_types.pop_back(); }),
            "tokenizer.ggml.token_type has 3 entries, expected 4.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.scores = {1.0f}; }),
            "tokenizer.ggml.scores has 1 entries, expected 4.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.scores.assign(4, std::numeric_limits<float>::quiet_NaN()); }),
            "tokenizer.ggml.scores holds a value that is not a number.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.eos_id = 4; }),
            "tokenizer.ggml.eos_token_id is 4, but the vocabulary has 4 tokens.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.merges.clear(); }),
            "tokenizer.ggml.merges is missing, so that text cannot be encoded.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.merges = {"a  b"}; }),
            "The merge \"a  b\" is not of the form \"left right\" with one space.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.merges = {"b a"}; }),
            "Merge 0 (\"b\" + \"a\") needs the token \"ba\", which the vocabulary lacks.");
  EXPECT_EQ(refused([](GgufVocab& g) { g.tokens[1] = "\xFF"; }), "The token with id 1 is no UTF-8 text.");
}

}  // namespace
}  // namespace ztvm::text
