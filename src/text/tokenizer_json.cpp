// Builds a tokenizer from a Hugging Face tokenizer.json.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <utility>

#include "base/in_quotes.hpp"
#include "text/merges.hpp"
#include "text/tokenizer.hpp"
#include "text/tokenizer_json_parts.hpp"
#include "text/vocab_json.hpp"

namespace ztvm::text {
namespace {

constexpr std::string_view k_model = "The model of tokenizer.json";

// Refuses models that BPE as written here would encode wrongly.
Result<void> check_model(const Json& model) {
  // Files from before 2021 have no "type"; only BPE models have merges.
  const Json& type = field_or_null(model, "type");
  if (type != "BPE" && !(type.is_null() && field_or_null(model, "merges").is_array())) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} is of type {}, expected \"BPE\".", k_model, shown_json(type)));
  }
  for (const std::string_view key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = field_or_null(model, key);
    if (!value.is_null() && value != "" && value != 0.0) {
      return fail(ErrorCode::unsupported, fmt::format("{} has {} {}, which this engine does not support.",
                                                      k_model, key, shown_json(value)));
    }
  }
  return {};
}

Result<BpeOptions> parse_bpe_options(const Json& model, const Vocab& vocab) {
  BpeOptions options;
  const std::pair<std::string_view, bool*> flags[] = {{"byte_fallback", &options.byte_fallback},
                                                      {"fuse_unk", &options.fuse_unk},
                                                      {"ignore_merges", &options.ignore_merges}};
  for (const auto& [name, flag] : flags) {
    Result<bool> value = get_bool_or(model, name, k_model, false);
    if (!value) return forward(value);
    *flag = *value;
  }
  if (field_or_null(model, "unk_token").is_null()) return options;
  Result<std::string> unk = get_string(model, "unk_token", k_model);
  if (!unk) return forward(unk);
  options.unk = vocab.find(*unk);
  if (!options.unk) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} names the unk_token {}, which the vocabulary lacks.",
                                                     k_model, in_quotes(*unk)));
  }
  return options;
}

// Gives the vocabulary those added tokens that it lacks.
Result<void> complete_vocab(Vocab& vocab, std::span<const AddedToken> added_tokens) {
  for (const AddedToken& token : added_tokens) {
    const std::optional<TokenId> listed = vocab.find(token.content);
    if (listed && *listed != token.id) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("tokenizer.json gives the added token {} the id {}, but {} in the vocabulary.",
                              in_quotes(token.content), token.id, *listed));
    }
    if (listed) continue;
    if (Result<void> added = vocab.add_unlisted(token.content, token.id); !added) return added;
  }
  return {};
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view json) {
  Result<VocabJson> file = parse_vocab_json(json, k_tokenizer_json);
  if (!file) return forward(file);
  return from_vocab_json(*std::move(file));
}

Result<Tokenizer> Tokenizer::from_vocab_json(VocabJson file) {
  const Json& model = field_or_null(file.rest, "model");
  if (Result<void> checked = check_model(model); !checked) return forward(checked);
  if (file.vocab.size() == 0)
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no vocabulary.", k_model));
  Result<BpeOptions> options = parse_bpe_options(model, file.vocab);
  if (!options) return forward(options);
  Result<std::vector<AddedToken>> added_tokens = parse_added_tokens(file.rest);
  if (!added_tokens) return forward(added_tokens);
  Result<MergeTable> merges = make_merge_table(file.vocab, file.merges, *added_tokens);
  if (!merges) return forward(merges);
  if (Result<void> completed = complete_vocab(file.vocab, *added_tokens); !completed)
    return forward(completed);
  Result<Normalizer> normalizer = parse_normalizer(file.rest);
  if (!normalizer) return forward(normalizer);
  Result<PreTokenizerParts> pretokenizer = parse_pretokenizer(file.rest);
  if (!pretokenizer) return forward(pretokenizer);
  options->byte_level = pretokenizer->byte_level;
  Result<DecoderPlan> decoder = parse_decoder(file.rest);
  if (!decoder) return forward(decoder);
  Result<std::vector<TokenId>> bos_prefix = parse_bos_prefix(file.rest);
  if (!bos_prefix) return forward(bos_prefix);
  Result<Bpe> bpe = Bpe::create(std::move(file.vocab), *std::move(merges), *options);
  if (!bpe) return forward(bpe);
  return Tokenizer(Parts{.bpe = *std::move(bpe),
                         .normalizer = *std::move(normalizer),
                         .pretokenizer = std::move(pretokenizer->steps),
                         .decoder = *std::move(decoder),
                         .added_tokens = *std::move(added_tokens),
                         .bos_prefix = *std::move(bos_prefix)});
}

}  // namespace ztvm::text
