// The parts of a tokenizer.json that name tokens or turn them into text: decoder, added tokens,
// post-processor.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>

#include "base/in_quotes.hpp"
#include "text/tokenizer_json_parts.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

constexpr std::string_view k_decoder = "The decoder of tokenizer.json";

std::unexpected<Error> unknown_decoder(std::string_view type, std::string_view problem) {
  return fail(ErrorCode::unsupported, fmt::format("{} has {} {}.", k_decoder, in_quotes(type), problem));
}

Result<void> add_strip(const Json& component, bool is_fused, DecoderPlan& plan) {
  if (!is_fused) return unknown_decoder("Strip", "without Fuse before it, expected it after Fuse");
  Result<std::string> content = get_string(component, "content", k_decoder);
  if (!content) return forward(content);
  Result<std::int64_t> start = get_int(component, "start", k_decoder);
  if (!start) return forward(start);
  Result<std::int64_t> stop = get_int(component, "stop", k_decoder);
  if (!stop) return forward(stop);
  if (*stop != 0) return unknown_decoder("Strip", fmt::format("with stop {}, expected 0", *stop));
  if (*start < 0 || content->empty()) return unknown_decoder("Strip", "with nothing to cut");
  plan.strip = *std::move(content);
  plan.n_strip = static_cast<std::size_t>(*start);
  return {};
}

Result<void> add_metaspace(const Json& component, DecoderPlan& plan) {
  Result<std::string> replacement = get_string(component, "replacement", k_decoder);
  if (!replacement) return forward(replacement);
  if (replacement->empty()) return unknown_decoder("Metaspace", "with an empty replacement");
  const bool never = field_or_null(component, "prepend_scheme") == "never" ||
                     field_or_null(component, "add_prefix_space") == false;
  if (never) {
    plan.replacements.push_back({.from = *std::move(replacement), .to = " "});
  } else {
    plan.metaspace = *std::move(replacement);
  }
  return {};
}

// Adds one component. The plan runs its parts in a fixed order, so a component that comes too late is
// refused.
Result<void> add_decoder(const Json& component, std::string& previous, DecoderPlan& plan) {
  const std::string type = component["type"].get<std::string>();
  const std::string before = std::exchange(previous, type);
  const bool ends_tokens = before == "ByteFallback" || before == "Fuse" || before == "Strip";
  if (plan.byte_level) return unknown_decoder(type, "after ByteLevel, expected nothing there");
  if (type == "Strip") return add_strip(component, before == "Fuse", plan);
  if (type == "Fuse") return {};
  if (ends_tokens)
    return unknown_decoder(type, fmt::format("after {}, which this engine does not know", before));
  if (type == "ByteFallback") {
    plan.byte_fallback = true;
    return {};
  }
  if (type == "Metaspace") return add_metaspace(component, plan);
  if (type == "ByteLevel" && before.empty()) {
    plan.byte_level = true;
    return {};
  }
  if (type != "Replace" || !plan.metaspace.empty())
    return unknown_decoder(type, "which this engine does not know");
  Result<ReplaceText> replace = parse_replace(component, k_decoder);
  if (!replace) return forward(replace);
  plan.replacements.push_back(*std::move(replace));
  return {};
}

Result<AddedToken> parse_added_token(const Json& entry) {
  constexpr std::string_view k_what = "An entry of added_tokens in tokenizer.json";
  Result<std::int64_t> id = get_int(entry, "id", k_what);
  if (!id) return forward(id);
  Result<std::string> content = get_string(entry, "content", k_what);
  if (!content) return forward(content);
  if (*id < 0 || *id > k_max_token_id || content->empty()) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has id {} and content {}, expected an id from 0 to {} "
                            "and a content.",
                            k_what, *id, in_quotes(*content), k_max_token_id));
  }
  AddedToken token{.id = static_cast<TokenId>(*id), .content = *std::move(content)};
  const std::pair<std::string_view, bool*> flags[] = {{"special", &token.is_special},
                                                      {"lstrip", &token.lstrip},
                                                      {"rstrip", &token.rstrip},
                                                      {"single_word", &token.single_word},
                                                      {"normalized", &token.normalized}};
  for (const auto& [name, flag] : flags) {
    Result<bool> value = get_bool_or(entry, name, k_what, false);
    if (!value) return forward(value);
    *flag = *value;
  }
  return token;
}

// The ids of the special tokens that a TemplateProcessing puts before the text.
Result<std::vector<TokenId>> parse_template_prefix(const Json& processor) {
  constexpr std::string_view k_what = "The post_processor of tokenizer.json";
  std::vector<TokenId> ids;
  const Json& single = field_or_null(processor, "single");
  if (!single.is_array())
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no array \"single\".", k_what));
  for (const Json& piece : single) {
    const Json& special = field_or_null(piece, "SpecialToken");
    if (special.is_null()) break;
    Result<std::string> name = get_string(special, "id", k_what);
    if (!name) return forward(name);
    const Json& token_ids =
        field_or_null(field_or_null(field_or_null(processor, "special_tokens"), *name), "ids");
    if (!token_ids.is_array()) {
      return fail(ErrorCode::corrupt_file, fmt::format("{} gives no ids for {}.", k_what, in_quotes(*name)));
    }
    for (const Json& id : token_ids) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() > k_max_token_id) {
        return fail(ErrorCode::corrupt_file,
                    fmt::format("{} gives {} the id {}.", k_what, in_quotes(*name), shown_json(id)));
      }
      ids.push_back(id.get<TokenId>());
    }
  }
  return ids;
}

}  // namespace

Result<DecoderPlan> parse_decoder(const Json& root) {
  Result<std::vector<Json>> components =
      flatten_components(field_or_null(root, "decoder"), k_decoder, "decoders");
  if (!components) return forward(components);
  if (components->empty()) {
    return fail(ErrorCode::unsupported, "tokenizer.json has no decoder, so its tokens cannot become text.");
  }
  DecoderPlan plan;
  std::string previous;
  for (const Json& component : *components) {
    if (Result<void> added = add_decoder(component, previous, plan); !added) return forward(added);
  }
  return plan;
}

Result<std::vector<AddedToken>> parse_added_tokens(const Json& root) {
  const Json& list = field_or_null(root, "added_tokens");
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  if (!list.is_array())
    return fail(ErrorCode::corrupt_file, "In tokenizer.json \"added_tokens\" is no array.");
  std::map<std::string, TokenId> ids;
  std::map<TokenId, std::string> contents;
  for (const Json& entry : list) {
    Result<AddedToken> token = parse_added_token(entry);
    if (!token) return forward(token);
    if (const auto [known, is_new] = ids.emplace(token->content, token->id); !is_new) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("tokenizer.json has the added token {} twice, with the ids {} and {}.",
                              in_quotes(token->content), known->second, token->id));
    }
    if (const auto [known, is_new] = contents.emplace(token->id, token->content); !is_new) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("tokenizer.json gives the id {} to two added tokens, {} and {}.", token->id,
                              in_quotes(known->second), in_quotes(token->content)));
    }
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

Result<std::vector<TokenId>> parse_bos_prefix(const Json& root) {
  constexpr std::string_view k_what = "The post_processor of tokenizer.json";
  Result<std::vector<Json>> processors =
      flatten_components(field_or_null(root, "post_processor"), k_what, "processors");
  if (!processors) return forward(processors);
  std::vector<TokenId> prefix;
  for (const Json& processor : *processors) {
    const std::string type = processor["type"].get<std::string>();
    if (type == "ByteLevel") continue;  // concerns offsets only
    if (type != "TemplateProcessing") {
      return fail(ErrorCode::unsupported,
                  fmt::format("{} is {}, which this engine does not know.", k_what, in_quotes(type)));
    }
    Result<std::vector<TokenId>> ids = parse_template_prefix(processor);
    if (!ids) return forward(ids);
    prefix.insert(prefix.end(), ids->begin(), ids->end());
  }
  return prefix;
}

}  // namespace ztvm::text
