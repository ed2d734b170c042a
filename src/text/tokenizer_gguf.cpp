// Builds a tokenizer from the metadata of a GGUF file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/in_quotes.hpp"
#include "text/merges.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::text {
namespace {

// Values of tokenizer.ggml.token_type.
constexpr std::int32_t k_type_unknown = 2;
constexpr std::int32_t k_type_control = 3;
constexpr std::int32_t k_type_user_defined = 4;

constexpr std::string_view k_space_mark = "\xE2\x96\x81";  // U+2581

// How text is prepared for a value of tokenizer.ggml.pre.
struct Preparation {
  Normalizer normalizer = {};
  PreTokenizer pretokenizer = {};
  bool ignore_merges = false;
};

Result<Preparation> prepare_byte_level(std::string_view pre) {
  if (pre == "gpt-2") return Preparation{.pretokenizer = {SplitByPattern{k_gpt2_pattern}}};
  if (pre == "smollm") {
    return Preparation{.pretokenizer = {SplitDigits{.individual = true}, SplitByPattern{k_gpt2_pattern}}};
  }
  if (pre == "qwen2") {
    return Preparation{.normalizer = {ComposeNfc{}}, .pretokenizer = {SplitByPattern{k_qwen2_pattern}}};
  }
  if (pre == "qwen35") {
    return Preparation{.normalizer = {ComposeNfc{}}, .pretokenizer = {SplitByPattern{k_qwen3_5_pattern}}};
  }
  if (pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3") {
    return Preparation{.pretokenizer = {SplitByPattern{k_llama3_pattern}}, .ignore_merges = true};
  }
  return fail(ErrorCode::unsupported, fmt::format("tokenizer.ggml.pre is {}, expected gpt-2, smollm, qwen2, "
                                                  "qwen35 or llama-bpe.",
                                                  in_quotes(pre)));
}

Preparation prepare_metaspace(bool add_space_prefix) {
  Preparation result;
  if (add_space_prefix) result.normalizer.push_back(PrependText{std::string(k_space_mark)});
  result.normalizer.push_back(ReplaceText{.from = " ", .to = std::string(k_space_mark)});
  return result;
}

DecoderPlan metaspace_decoder(bool add_space_prefix) {
  return {.replacements = {{.from = std::string(k_space_mark), .to = " "}},
          .byte_fallback = true,
          .strip = " ",
          .n_strip = add_space_prefix ? std::size_t{1} : std::size_t{0}};
}

std::vector<AddedToken> collect_added_tokens(const GgufVocab& gguf) {
  std::vector<AddedToken> tokens;
  for (std::size_t id = 0; id < gguf.token_types.size(); ++id) {
    const std::int32_t type = gguf.token_types[id];
    const bool is_special = type == k_type_control || type == k_type_unknown;
    if ((!is_special && type != k_type_user_defined) || gguf.tokens[id].empty()) continue;
    tokens.push_back({.id = static_cast<TokenId>(id), .content = gguf.tokens[id], .is_special = is_special});
  }
  // GGUF has no place for rstrip, which the markers of Phi-3 have (all but <|endoftext|>, and </s>).
  const bool is_phi3 =
      gguf.model == "llama" && std::ranges::count(tokens, "<|assistant|>", &AddedToken::content) != 0;
  for (AddedToken& token : tokens) {
    const bool is_marker = token.content.starts_with("<|") && token.content != "<|endoftext|>";
    token.rstrip = is_phi3 && (is_marker || token.content == "</s>");
  }
  return tokens;
}

Result<void> check_vocab(const GgufVocab& gguf) {
  const std::size_t n_tokens = gguf.tokens.size();
  if (n_tokens == 0 || n_tokens > k_max_token_id) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("tokenizer.ggml.tokens has {} entries, expected 1 to {}.", n_tokens, k_max_token_id));
  }
  if (!gguf.token_types.empty() && gguf.token_types.size() != n_tokens) {
    return fail(ErrorCode::corrupt_file, fmt::format("tokenizer.ggml.token_type has {} entries, expected {}.",
                                                     gguf.token_types.size(), n_tokens));
  }
  if (!gguf.scores.empty() && gguf.scores.size() != n_tokens) {
    return fail(ErrorCode::corrupt_file, fmt::format("tokenizer.ggml.scores has {} entries, expected {}.",
                                                     gguf.scores.size(), n_tokens));
  }
  if (std::ranges::any_of(gguf.scores, [](float score) { return std::isnan(score); })) {
    return fail(ErrorCode::corrupt_file, "tokenizer.ggml.scores holds a value that is not a number.");
  }
  const std::pair<std::string_view, std::optional<std::uint32_t>> ids[] = {
      {"bos", gguf.bos_id}, {"eos", gguf.eos_id}, {"unknown", gguf.unk_id}, {"padding", gguf.pad_id}};
  for (const auto& [name, id] : ids) {
    if (id && *id >= n_tokens) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("tokenizer.ggml.{}_token_id is {}, but the vocabulary has {} "
                              "tokens.",
                              name, *id, n_tokens));
    }
  }
  return {};
}

Result<MergeTable> build_merges(const GgufVocab& gguf, const Vocab& vocab,
                                std::span<const AddedToken> added_tokens) {
  if (gguf.merges.empty() && !gguf.scores.empty() && gguf.model == "llama") {
    return make_merge_table(vocab, gguf.scores, added_tokens);
  }
  if (gguf.merges.empty()) {
    return fail(ErrorCode::corrupt_file, "tokenizer.ggml.merges is missing, so that text cannot be encoded.");
  }
  std::vector<MergePair> pairs;
  for (const std::string& merge : gguf.merges) {
    Result<MergePair> pair = split_merge(merge);
    if (!pair) return forward(pair);
    pairs.push_back(*std::move(pair));
  }
  return make_merge_table(vocab, pairs, added_tokens);
}

}  // namespace

Result<Tokenizer> Tokenizer::from_gguf(const GgufVocab& gguf) {
  const bool is_byte_level = gguf.model == "gpt2";
  if (!is_byte_level && gguf.model != "llama") {
    return fail(ErrorCode::unsupported,
                fmt::format("tokenizer.ggml.model is {}, expected gpt2 or llama.", in_quotes(gguf.model)));
  }
  if (Result<void> checked = check_vocab(gguf); !checked) return forward(checked);
  Result<Preparation> preparation =
      is_byte_level ? prepare_byte_level(gguf.pre) : prepare_metaspace(gguf.add_space_prefix);
  if (!preparation) return forward(preparation);
  Vocab vocab;
  for (std::size_t id = 0; id < gguf.tokens.size(); ++id) {
    if (Result<void> added = vocab.add(gguf.tokens[id], static_cast<std::int64_t>(id)); !added)
      return forward(added);
  }
  std::vector<AddedToken> added_tokens = collect_added_tokens(gguf);
  Result<MergeTable> merges = build_merges(gguf, vocab, added_tokens);
  if (!merges) return forward(merges);
  const BpeOptions options = {.byte_level = is_byte_level,
                              .byte_fallback = !is_byte_level,
                              .fuse_unk = !is_byte_level,
                              .ignore_merges = preparation->ignore_merges,
                              .unk = is_byte_level ? std::nullopt : gguf.unk_id};
  Result<Bpe> bpe = Bpe::create(std::move(vocab), *std::move(merges), options);
  if (!bpe) return forward(bpe);
  Parts parts{
      .bpe = *std::move(bpe),
      .normalizer = std::move(preparation->normalizer),
      .pretokenizer = std::move(preparation->pretokenizer),
      .decoder = is_byte_level ? DecoderPlan{.byte_level = true} : metaspace_decoder(gguf.add_space_prefix),
      .added_tokens = std::move(added_tokens),
      .eos = gguf.eos_id};
  if (gguf.add_bos && gguf.bos_id) parts.bos_prefix.push_back(*gguf.bos_id);
  return Tokenizer(std::move(parts));
}

}  // namespace ztvm::text
