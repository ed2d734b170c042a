// What a GGUF of the Llama family may say of RoPE and of its vocabulary.
#include "model/families/llama_gguf.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "gguf_builder.hpp"
#include "load/gguf.hpp"

namespace ztvm::model {
namespace {

using test::GgufBuilder;

constexpr std::uint32_t k_u32 = 4;
constexpr std::uint32_t k_f32 = 6;

GgufBuilder minimal() {
  GgufBuilder builder;
  builder.strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  for (const auto& [key, value] : {std::pair("block_count", 2),
                                   {"embedding_length", 64},
                                   {"context_length", 512},
                                   {"feed_forward_length", 128},
                                   {"attention.head_count", 2}}) {
    builder.scalar<std::uint32_t>("llama." + std::string(key), k_u32, static_cast<std::uint32_t>(value));
  }
  builder.tensor({.name = "token_embd.weight", .dims = {64, 5}});
  builder.n_data_bytes = 64 * 5 * 4;
  return builder;
}

Result<Family> read(const std::function<void(GgufBuilder&)>& change) {
  GgufBuilder builder = minimal();
  change(builder);
  const std::string bytes = builder.file();
  auto parsed = load::parse_gguf(as_bytes(bytes), "x.gguf", bytes.size());
  if (!parsed) return forward(parsed);
  const auto& gguf = std::get<load::GgufFile>(*parsed);
  return llama_from_gguf(gguf.metadata, gguf.checkpoint);
}
std::string refusal(const std::function<void(GgufBuilder&)>& change) {
  const auto family = read(change);
  return family ? "" : family.error().text;
}

TEST(LlamaGguf, PlainRope) {
  const auto factor = [](float value) {
    return [value](GgufBuilder& b) { b.scalar("llama.rope.scaling.factor", k_f32, value); };
  };
  EXPECT_EQ(refusal([](GgufBuilder&) {}), "");
  EXPECT_EQ(refusal(factor(1.0f)), "");
  EXPECT_EQ(refusal(factor(0.0f)), "");
  EXPECT_EQ(refusal(factor(4.0f)),
            "x.gguf has 4 in key \"llama.rope.scaling.factor\", expected 1 (no scaling).");
  const auto typed = [&](const char* type) {
    return refusal([&](GgufBuilder& b) { factor(4.0f)(b.text("llama.rope.scaling.type", type)); });
  };
  EXPECT_EQ(typed("none"), "");
  EXPECT_NE(typed("linear"), "");
  EXPECT_EQ(typed("yarn"), "x.gguf uses RoPE scaling \"yarn\", expected none.");
}

TEST(LlamaGguf, TheVocabularyLiesBetweenTokensAndRows) {
  const auto size = [](std::uint32_t value) {
    return refusal([&](GgufBuilder& b) { b.scalar("llama.vocab_size", k_u32, value); });
  };
  EXPECT_EQ(size(3), "");
  EXPECT_EQ(size(5), "");
  for (const std::uint32_t value : {0u, 1u, 2u, 6u, UINT32_MAX}) {
    EXPECT_NE(size(value).find("in key \"llama.vocab_size\""), std::string::npos) << value;
  }
}

TEST(LlamaGguf, AWindowLimitsTheContext) {
  const auto family =
      read([](GgufBuilder& b) { b.scalar("llama.attention.sliding_window", k_u32, std::uint32_t{64}); });
  ASSERT_TRUE(family) << family.error().text;
  EXPECT_EQ(family->spec.max_context, 64u);
}

}  // namespace
}  // namespace ztvm::model
