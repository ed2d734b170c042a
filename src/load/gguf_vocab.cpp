#include "load/gguf_vocab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

std::unexpected<Error> broken(const GgufMetadata& metadata, std::string_view key, std::string_view what) {
  return fail(ErrorCode::corrupt_file,
              fmt::format("Metadata key {} in {} has {}.", in_quotes(key), metadata.file(), what));
}

Result<std::optional<std::uint32_t>> read_id(const GgufMetadata& metadata, std::string_view key,
                                             std::size_t vocab) {
  auto found = metadata.find_uint(key);
  if (!found) return forward(found);
  const std::optional<std::uint64_t> id = *found;
  if (!id) return std::nullopt;
  if (*id >= vocab) {
    return broken(metadata, key,
                  fmt::format("the id {}, expected one below the vocabulary of {} tokens", *id, vocab));
  }
  return static_cast<std::uint32_t>(*id);
}

Result<std::vector<std::int32_t>> read_token_types(const GgufMetadata& metadata, std::size_t vocab) {
  constexpr std::string_view k_key = "tokenizer.ggml.token_type";
  auto found = metadata.find_ints(k_key);
  if (!found) return forward(found);
  if (!found->has_value()) return std::vector<std::int32_t>();
  const std::vector<std::int64_t>& types = found->value();
  if (types.size() != vocab) {
    return broken(metadata, k_key, fmt::format("{} elements for {} tokens", types.size(), vocab));
  }
  const auto unknown = std::ranges::find_if(types, [](std::int64_t type) { return type < 0 || type > 6; });
  if (unknown != types.end()) {
    return broken(
        metadata, k_key,
        fmt::format("the token type {} for token {}, expected 0 to 6", *unknown, unknown - types.begin()));
  }
  std::vector<std::int32_t> narrowed;
  narrowed.reserve(types.size());
  for (const std::int64_t type : types) narrowed.push_back(static_cast<std::int32_t>(type));
  return narrowed;
}

Result<std::vector<std::string>> read_merges(const GgufMetadata& metadata) {
  constexpr std::string_view k_key = "tokenizer.ggml.merges";
  auto found = metadata.find_strings(k_key);
  if (!found) return forward(found);
  std::vector<std::string> merges = std::move(*found).value_or(std::vector<std::string>());
  const auto odd = std::ranges::find_if(merges, [](std::string_view merge) {
    const std::size_t space = merge.find(' ', 1);  // a part may itself start with a space
    return space == std::string_view::npos || space + 1 == merge.size();
  });
  if (odd != merges.end()) {
    return broken(metadata, k_key,
                  fmt::format("the merge {} at rank {}, expected two parts with a space between them",
                              in_quotes(*odd), odd - merges.begin()));
  }
  return merges;
}

Result<std::vector<float>> read_scores(const GgufMetadata& metadata, std::size_t vocab) {
  constexpr std::string_view k_key = "tokenizer.ggml.scores";
  auto found = metadata.find_floats(k_key);
  if (!found) return forward(found);
  std::vector<float> scores = std::move(*found).value_or(std::vector<float>());
  if (!scores.empty() && scores.size() != vocab) {
    return broken(metadata, k_key, fmt::format("{} elements for {} tokens", scores.size(), vocab));
  }
  const auto odd = std::ranges::find_if(scores, [](float score) { return std::isnan(score); });
  if (odd != scores.end()) {
    return broken(metadata, k_key,
                  fmt::format("a score for token {} that is not a number", odd - scores.begin()));
  }
  return scores;
}

Result<void> read_special_ids(const GgufMetadata& metadata, GgufVocabFields& vocab) {
  const std::pair<std::string_view, std::optional<std::uint32_t>*> k_ids[] = {
      {"tokenizer.ggml.bos_token_id", &vocab.bos},
      {"tokenizer.ggml.eos_token_id", &vocab.eos},
      {"tokenizer.ggml.unknown_token_id", &vocab.unk},
      {"tokenizer.ggml.padding_token_id", &vocab.pad},
  };
  for (const auto& [key, id] : k_ids) {
    auto found = read_id(metadata, key, vocab.tokens.size());
    if (!found) return forward(found);
    *id = *found;
  }
  return {};
}

// Without the key it is as llama.cpp does, which wrote the format.
Result<void> read_add_bos(const GgufMetadata& metadata, GgufVocabFields& vocab) {
  constexpr std::string_view k_key = "tokenizer.ggml.add_bos_token";
  auto add_bos = metadata.find_bool(k_key);
  if (!add_bos) return forward(add_bos);
  const bool is_llama3 = vocab.pre == "llama-bpe" || vocab.pre == "llama3" || vocab.pre == "llama-v3";
  vocab.add_bos = add_bos->value_or(vocab.model == "llama" || is_llama3);
  if (!vocab.add_bos || vocab.bos) return {};
  return broken(metadata, k_key,
                add_bos->has_value()
                    ? "the value true, but there is no bos_token_id"
                    : "no value, which means true for this vocabulary, but there is no bos_token_id");
}

}  // namespace

Result<GgufVocabFields> read_gguf_vocab(const GgufMetadata& metadata) {
  GgufVocabFields vocab;
  auto model = metadata.get_string("tokenizer.ggml.model");
  if (!model) return forward(model);
  vocab.model = std::move(*model);
  auto pre = metadata.find_string("tokenizer.ggml.pre");
  if (!pre) return forward(pre);
  vocab.pre = std::move(*pre).value_or("default");

  auto tokens = metadata.get_strings("tokenizer.ggml.tokens");
  if (!tokens) return forward(tokens);
  if (tokens->empty()) return broken(metadata, "tokenizer.ggml.tokens", "no tokens");
  vocab.tokens = std::move(*tokens);
  auto types = read_token_types(metadata, vocab.tokens.size());
  if (!types) return forward(types);
  vocab.token_types = std::move(*types);
  auto merges = read_merges(metadata);
  if (!merges) return forward(merges);
  vocab.merges = std::move(*merges);
  auto scores = read_scores(metadata, vocab.tokens.size());
  if (!scores) return forward(scores);
  vocab.scores = std::move(*scores);

  if (auto ids = read_special_ids(metadata, vocab); !ids) return forward(ids);
  if (auto taken = read_add_bos(metadata, vocab); !taken) return forward(taken);
  auto add_space_prefix = metadata.find_bool("tokenizer.ggml.add_space_prefix");
  if (!add_space_prefix) return forward(add_space_prefix);
  vocab.add_space_prefix = add_space_prefix->value_or(true);
  auto chat_template = metadata.find_string("tokenizer.chat_template");
  if (!chat_template) return forward(chat_template);
  vocab.chat_template = std::move(*chat_template).value_or("");
  return vocab;
}

}  // namespace ztvm::load
