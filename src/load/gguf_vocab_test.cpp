#include "load/gguf_vocab.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "gguf_builder.hpp"
#include "load/gguf.hpp"
#include "read_file.hpp"

namespace ztvm::load {
namespace {

using test::GgufBuilder;

Result<GgufVocabFields> read(const GgufBuilder& builder) {
  const std::string bytes = builder.file();
  auto parsed = parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  EXPECT_TRUE(parsed) << parsed.error().text;
  return read_gguf_vocab(std::get<GgufFile>(*parsed).metadata);
}

GgufBuilder minimal() {
  GgufBuilder builder;
  builder.text("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a", "b", "ab"});
  builder.n_data_bytes = 512;
  return builder;
}

TEST(GgufVocab, TinyModel) {
  const std::string bytes = test::read_source_file("tests/golden/llama/model/tiny-smollm2.Q4_1.gguf");
  auto parsed = parse_gguf(as_bytes(bytes), "tiny.gguf", bytes.size());
  ASSERT_TRUE(parsed) << parsed.error().text;
  const auto vocab = read_gguf_vocab(std::get<GgufFile>(*parsed).metadata);
  ASSERT_TRUE(vocab) << vocab.error().text;
  EXPECT_EQ(vocab->model, "gpt2");
  EXPECT_EQ(vocab->pre, "smollm");
  ASSERT_EQ(vocab->tokens.size(), 580u);
  EXPECT_EQ(vocab->tokens[2], "<|im_end|>");
  EXPECT_EQ(vocab->merges.size(), 307u);
  EXPECT_EQ(vocab->merges[0], "h e");
  ASSERT_EQ(vocab->token_types.size(), 580u);
  EXPECT_EQ(vocab->token_types[0], 3);
  EXPECT_EQ(vocab->token_types[17], 1);
  EXPECT_EQ(vocab->bos, 1u);
  EXPECT_EQ(vocab->eos, 2u);
  EXPECT_EQ(vocab->unk, 0u);
  EXPECT_EQ(vocab->pad, 2u);
  EXPECT_FALSE(vocab->add_bos);
  EXPECT_TRUE(vocab->chat_template.starts_with("{% for message in messages %}"));
}

TEST(GgufVocab, AbsentFieldsHaveDefaults) {
  const auto vocab = read(minimal());
  ASSERT_TRUE(vocab) << vocab.error().text;
  EXPECT_EQ(vocab->pre, "default");
  EXPECT_TRUE(vocab->merges.empty());
  EXPECT_TRUE(vocab->token_types.empty());
  EXPECT_EQ(vocab->bos, std::nullopt);
  EXPECT_FALSE(vocab->add_bos);
  EXPECT_EQ(vocab->chat_template, "");
}

TEST(GgufVocab, Llama3BeginsWithBosUnlessItIsSaidNotTo) {
  const auto adds_bos = [](const char* pre, std::optional<std::uint8_t> add_bos) {
    GgufBuilder builder = minimal();
    builder.text("tokenizer.ggml.pre", pre).scalar("tokenizer.ggml.bos_token_id", 4, 0u);
    if (add_bos) builder.scalar("tokenizer.ggml.add_bos_token", 7, *add_bos);
    const auto vocab = read(builder);
    EXPECT_TRUE(vocab) << vocab.error().text;
    return vocab && vocab->add_bos;
  };
  for (const char* pre : {"llama-bpe", "llama3", "llama-v3"}) {
    EXPECT_TRUE(adds_bos(pre, std::nullopt)) << pre;
    EXPECT_FALSE(adds_bos(pre, 0)) << pre;
  }
  EXPECT_FALSE(adds_bos("smollm", std::nullopt));
  EXPECT_TRUE(adds_bos("smollm", 1));
}

TEST(GgufVocab, DamageNamesTheKey) {
  struct Damage {
    std::string_view named;
    std::function<void(GgufBuilder&)> change;
  };
  const Damage damages[] = {
      {"eos_token_id", [](auto& b) { b.scalar("tokenizer.ggml.eos_token_id", 4, 3u); }},
      {"bos_token_id", [](auto& b) { b.scalar("tokenizer.ggml.bos_token_id", 5, -1); }},
      {"padding_token_id", [](auto& b) { b.text("tokenizer.ggml.padding_token_id", "0"); }},
      {"unknown_token_id", [](auto& b) { b.scalar("tokenizer.ggml.unknown_token_id", 10, 1ull << 32); }},
      {"2 elements for 3 tokens", [](auto& b) { b.ints("tokenizer.ggml.token_type", {1, 1}); }},
      {"token type 7", [](auto& b) { b.ints("tokenizer.ggml.token_type", {1, 7, 1}); }},
      {"token_type", [](auto& b) { b.strings("tokenizer.ggml.token_type", {"1", "1", "1"}); }},
      {"\"ab\" at rank 1", [](auto& b) { b.strings("tokenizer.ggml.merges", {"a b", "ab"}); }},
      {"\"a \" at rank 0", [](auto& b) { b.strings("tokenizer.ggml.merges", {"a "}); }},
      {"add_bos_token",
       [](auto& b) { b.template scalar<std::uint8_t>("tokenizer.ggml.add_bos_token", 7, 1); }},
      {"no value, which means true", [](auto& b) { b.text("tokenizer.ggml.pre", "llama-bpe"); }},
      {"chat_template", [](auto& b) { b.scalar("tokenizer.chat_template", 4, 1u); }},
  };
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.named);
    GgufBuilder builder = minimal();
    damage.change(builder);
    const auto vocab = read(builder);
    ASSERT_FALSE(vocab);
    EXPECT_EQ(vocab.error().code, ErrorCode::corrupt_file);
    EXPECT_NE(vocab.error().text.find(damage.named), std::string::npos) << vocab.error().text;
    EXPECT_NE(vocab.error().text.find("x.gguf"), std::string::npos) << vocab.error().text;
  }
}

TEST(GgufVocab, MissingModelOrTokens) {
  EXPECT_EQ(read(GgufBuilder()).error().code, ErrorCode::not_found);
  GgufBuilder no_tokens;
  no_tokens.text("tokenizer.ggml.model", "gpt2");
  EXPECT_NE(read(no_tokens).error().text.find("tokenizer.ggml.tokens"), std::string::npos);
  no_tokens.strings("tokenizer.ggml.tokens", {});
  EXPECT_NE(read(no_tokens).error().text.find("no tokens"), std::string::npos);
}

}  // namespace
}  // namespace ztvm::load
