#include "text/tokenizer_json_parts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <utility>

#include "base/in_quotes.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

template <typename... Args>
std::unexpected<Error> unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::unsupported, fmt::format(format, std::forward<Args>(args)...));
}

Result<SplitByPattern> parse_split(const Json& component, std::string_view what) {
  const Json& pattern = field_or_null(component, "pattern");
  const Json& regex = field_or_null(pattern, "Regex");
  const Json& behavior = field_or_null(component, "behavior");
  if (behavior != "Isolated" || field_or_null(component, "invert") == true) {
    return unsupported("{} splits with behavior {} and invert {}, expected \"Isolated\" and false.", what,
                       shown_json(behavior), shown_json(field_or_null(component, "invert")));
  }
  const auto known =
      regex.is_string() ? find_split_pattern(regex.get_ref<const std::string&>()) : std::nullopt;
  if (!known) {
    return unsupported("{} splits by the pattern {}, which this engine does not know.", what,
                       shown_json(pattern));
  }
  return SplitByPattern{*known};
}

Result<PrependScheme> parse_prepend_scheme(const Json& component, std::string_view what) {
  if (field_or_null(component, "add_prefix_space") == false) return PrependScheme::never;
  const Json& scheme = field_or_null(component, "prepend_scheme");
  if (scheme.is_null() || scheme == "always") return PrependScheme::always;
  if (scheme == "first") return PrependScheme::first;
  if (scheme == "never") return PrependScheme::never;
  return unsupported("{} has prepend_scheme {}, expected always, first or never.", what, shown_json(scheme));
}

Result<Metaspace> parse_metaspace(const Json& component, std::string_view what) {
  Result<std::string> replacement = get_string(component, "replacement", what);
  if (!replacement) return forward(replacement);
  if (replacement->empty() || first_character(*replacement).n_bytes != replacement->size()) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has replacement {}, expected one character.", what, in_quotes(*replacement)));
  }
  Result<PrependScheme> scheme = parse_prepend_scheme(component, what);
  if (!scheme) return forward(scheme);
  Result<bool> split = get_bool_or(component, "split", what, true);
  if (!split) return forward(split);
  return Metaspace{.replacement = *std::move(replacement), .scheme = *scheme, .split = *split};
}

// Adds what one pre-tokenizer component does.
Result<void> add_pretokenizer(const Json& component, std::string_view what, PreTokenizerParts& parts) {
  const std::string type = component["type"].get<std::string>();
  if (parts.byte_level)
    return unsupported("{} has {} after ByteLevel, expected ByteLevel last.", what, in_quotes(type));
  const auto add = [&](auto step) -> Result<void> {
    if (!step) return forward(step);
    parts.steps.push_back(*std::move(step));
    return {};
  };
  if (type == "Split") return add(parse_split(component, what));
  if (type == "Metaspace") return add(parse_metaspace(component, what));
  if (type == "Digits") {
    Result<bool> individual = get_bool_or(component, "individual_digits", what, false);
    if (!individual) return forward(individual);
    parts.steps.push_back(SplitDigits{.individual = *individual});
    return {};
  }
  if (type != "ByteLevel")
    return unsupported("{} is {}, which this engine does not know.", what, in_quotes(type));
  Result<bool> prefix = get_bool_or(component, "add_prefix_space", what, true);
  if (!prefix) return forward(prefix);
  Result<bool> use_regex = get_bool_or(component, "use_regex", what, true);
  if (!use_regex) return forward(use_regex);
  if (*prefix) parts.steps.push_back(PrependSpace{});
  if (*use_regex) parts.steps.push_back(SplitByPattern{k_gpt2_pattern});
  parts.byte_level = true;
  return {};
}

}  // namespace

const Json& field_or_null(const Json& object, std::string_view key) {
  static const Json k_null;
  if (!object.is_object()) return k_null;
  const auto found = object.find(key);
  return found == object.end() ? k_null : *found;
}

Result<bool> get_bool_or(const Json& object, std::string_view key, std::string_view what, bool otherwise) {
  if (field_or_null(object, key).is_null()) return otherwise;
  return get_bool(object, key, what);
}

Result<std::vector<Json>> flatten_components(const Json& component, std::string_view what,
                                             std::string_view list_key) {
  std::vector<Json> result;
  std::vector<Json> to_visit = {component};
  while (!to_visit.empty()) {
    const Json current = std::move(to_visit.back());
    to_visit.pop_back();
    if (current.is_null()) continue;
    Result<std::string> type = get_string(current, "type", what);
    if (!type) return forward(type);
    if (*type != "Sequence") {
      result.push_back(current);
      continue;
    }
    const Json& list = field_or_null(current, list_key);
    if (!list.is_array()) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{}: the Sequence has no array \"{}\".", what, list_key));
    }
    to_visit.insert(to_visit.end(), list.rbegin(), list.rend());
  }
  return result;
}

Result<ReplaceText> parse_replace(const Json& component, std::string_view what) {
  const Json& pattern = field_or_null(component, "pattern");
  if (const Json& regex = field_or_null(pattern, "Regex"); !regex.is_null()) {
    return unsupported("{} replaces by the regular expression {}, which this engine does not know.", what,
                       shown_json(regex));
  }
  Result<std::string> from = get_string(pattern, "String", what);
  if (!from) return forward(from);
  if (from->empty()) return fail(ErrorCode::corrupt_file, fmt::format("{} has an empty pattern.", what));
  Result<std::string> to = get_string(component, "content", what);
  if (!to) return forward(to);
  return ReplaceText{.from = *std::move(from), .to = *std::move(to)};
}

Result<Normalizer> parse_normalizer(const Json& root) {
  constexpr std::string_view k_what = "The normalizer of tokenizer.json";
  Result<std::vector<Json>> components =
      flatten_components(field_or_null(root, "normalizer"), k_what, "normalizers");
  if (!components) return forward(components);
  Normalizer steps;
  for (const Json& component : *components) {
    const std::string type = component["type"].get<std::string>();
    if (type == "NFC") {
      steps.push_back(ComposeNfc{});
    } else if (type == "Prepend") {
      Result<std::string> text = get_string(component, "prepend", k_what);
      if (!text) return forward(text);
      steps.push_back(PrependText{*std::move(text)});
    } else if (type == "Replace") {
      Result<ReplaceText> replace = parse_replace(component, k_what);
      if (!replace) return forward(replace);
      steps.push_back(*std::move(replace));
    } else {
      return unsupported("{} is {}, which this engine does not know.", k_what, in_quotes(type));
    }
  }
  return steps;
}

Result<PreTokenizerParts> parse_pretokenizer(const Json& root) {
  constexpr std::string_view k_what = "The pre_tokenizer of tokenizer.json";
  Result<std::vector<Json>> components =
      flatten_components(field_or_null(root, "pre_tokenizer"), k_what, "pretokenizers");
  if (!components) return forward(components);
  PreTokenizerParts parts;
  for (const Json& component : *components) {
    if (Result<void> added = add_pretokenizer(component, k_what, parts); !added) return forward(added);
  }
  return parts;
}

}  // namespace ztvm::text
