#include "engine/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/conv_template.hpp"
#include "load/gguf_vocab.hpp"

namespace ztvm::engine {
namespace {

constexpr std::string_view k_tokenizer = "tokenizer.json";

text::GgufVocab to_text(load::GgufVocabFields fields) {
  text::GgufVocab vocab;
  vocab.model = std::move(fields.model);
  vocab.pre = std::move(fields.pre);
  vocab.tokens = std::move(fields.tokens);
  vocab.merges = std::move(fields.merges);
  vocab.scores = std::move(fields.scores);
  vocab.token_types = std::move(fields.token_types);
  vocab.bos_id = fields.bos;
  vocab.eos_id = fields.eos;
  vocab.unk_id = fields.unk;
  vocab.pad_id = fields.pad;
  vocab.add_bos = fields.add_bos;
  vocab.add_space_prefix = fields.add_space_prefix;
  vocab.chat_template = std::move(fields.chat_template);
  return vocab;
}

// A tokenizer_config.json holds a template as text, or a list of named ones, of which "default" is for chats.
std::string template_of(const Json& tokenizer_config) {
  if (!tokenizer_config.contains("chat_template")) return {};
  const Json& value = tokenizer_config["chat_template"];
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return {};
  for (const Json& named : value) {
    if (named.is_object() && named.value("name", Json()) == "default" && named.contains("template") &&
        named["template"].is_string()) {
      return named["template"].get<std::string>();
    }
  }
  return {};
}

struct FamilyTemplate {
  std::string_view model_type;
  text::TemplateKind kind;
};
constexpr std::array k_family_templates = {
    FamilyTemplate{"phi3", text::TemplateKind::phi_3_mini_4k},
    FamilyTemplate{"qwen3", text::TemplateKind::qwen3},
    FamilyTemplate{"qwen3_5", text::TemplateKind::qwen3_5},
    FamilyTemplate{"qwen3_5_text", text::TemplateKind::qwen3_5},
    FamilyTemplate{"qwen3_5_moe", text::TemplateKind::qwen3_5},
    FamilyTemplate{"qwen3_5_moe_text", text::TemplateKind::qwen3_5},
};

// The sentences of the vocabulary's own errors name keys of a file that they do not know.
Error in_file(Error error, std::string_view file) {
  error.text = fmt::format("{}: {}", file, error.text);
  return error;
}

void take_template(std::string_view jinja, std::string_view file, TextParts& parts) {
  auto detected = text::detect_template(jinja);
  if (detected) {
    parts.chat_template = *detected;
  } else {
    parts.template_problem = in_file(std::move(detected.error()), file).text;
  }
}

Result<void> choose_template(const TextFiles& files, TextParts& parts) {
  std::string jinja(files.chat_template_jinja);
  std::string_view file = "chat_template.jinja";
  if (files.tokenizer_config_json) {
    constexpr std::string_view k_config = "tokenizer_config.json";
    auto config = parse_config(*files.tokenizer_config_json, k_config);
    if (!config) return forward(config);
    if (jinja.empty()) {
      jinja = template_of(*config);
      file = k_config;
    }
  }
  if (!jinja.empty()) {
    take_template(jinja, file, parts);
    return {};
  }
  for (const FamilyTemplate& family : k_family_templates) {
    if (family.model_type == files.model_type) parts.chat_template = family.kind;
  }
  return {};
}

// Ids that a config names as ends: one number, or a list; null is none.
struct EndField {
  const char* path;
  bool may_be_empty;  // a list: MLC's templates may end with strings alone
};
constexpr EndField k_end_fields[] = {
    {"/eos_token_id", false}, {"/text_config/eos_token_id", false}, {"/conv_template/stop_token_ids", true}};

Result<void> append_ids(const NamedConfig& config, const EndField& field, std::size_t n_ids,
                        std::vector<text::TokenId>& ids) {
  const Json::json_pointer path(field.path);
  if (!config.json.contains(path) || config.json[path].is_null()) return {};
  const Json& value = config.json[path];
  const Json list = value.is_array() ? value : Json::array({value});
  bool fine = field.may_be_empty || !list.empty();
  for (const Json& id : list) {
    fine = fine && id.is_number_unsigned() && id.get<std::uint64_t>() < n_ids;
    if (fine) ids.push_back(id.get<text::TokenId>());
  }
  if (fine) return {};
  constexpr std::size_t k_most_shown = 60;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} has {} in field \"{}\", expected ids below the vocabulary of {} tokens.",
                          config.name, dump_json(value).substr(0, k_most_shown), path.back(), n_ids));
}

Result<std::vector<text::TokenId>> config_stop_ids(std::span<const NamedConfig> configs, std::size_t n_ids,
                                                   const text::Tokenizer& tokenizer) {
  std::vector<text::TokenId> ids;
  for (const NamedConfig& config : configs) {
    for (const EndField& field : k_end_fields) {
      if (auto appended = append_ids(config, field, n_ids, ids); !appended) return forward(appended);
    }
    const std::vector<text::TokenId> strings = stop_string_ids(config.json, tokenizer);
    ids.insert(ids.end(), strings.begin(), strings.end());
  }
  return ids;
}

Result<void> check_template(const TextParts& parts, std::string_view file) {
  if (!parts.chat_template) return {};
  return text::check_markers(parts.tokenizer, *parts.chat_template, file);
}

}  // namespace

Result<Json> parse_config(std::string_view text, std::string_view name) {
  auto config = parse_json_unique(text, name);
  if (!config || config->is_object()) return config;
  return fail(ErrorCode::corrupt_file,
              fmt::format("{} is a JSON {}, expected an object.", name, config->type_name()));
}

Result<TextParts> read_text_parts(const load::GgufMetadata& metadata) {
  auto fields = load::read_gguf_vocab(metadata);
  if (!fields) return forward(fields);
  const text::GgufVocab vocab = to_text(std::move(*fields));
  auto tokenizer = text::Tokenizer::from_gguf(vocab);
  if (!tokenizer) return std::unexpected(in_file(std::move(tokenizer.error()), metadata.file()));
  TextParts parts = {.tokenizer = std::move(*tokenizer), .chat_template = {}, .stop_ids = {}};
  if (!vocab.chat_template.empty()) take_template(vocab.chat_template, metadata.file(), parts);
  if (auto checked = check_template(parts, metadata.file()); !checked) return forward(checked);
  parts.stop_ids = text::stop_ids(parts.tokenizer, parts.chat_template, {});
  return parts;
}

Result<TextParts> read_text_parts(const TextFiles& files) {
  auto tokenizer = text::Tokenizer::from_json(files.tokenizer_json);
  if (!tokenizer) {
    const bool has_name = tokenizer.error().text.find(k_tokenizer) != std::string::npos;
    return std::unexpected(has_name ? std::move(tokenizer.error())
                                    : in_file(std::move(tokenizer.error()), k_tokenizer));
  }
  TextParts parts = {.tokenizer = std::move(*tokenizer), .chat_template = {}, .stop_ids = {}};
  if (auto chosen = choose_template(files, parts); !chosen) return forward(chosen);
  if (auto checked = check_template(parts, k_tokenizer); !checked) return forward(checked);
  for (const NamedConfig& config : files.configs) {
    if (!parts.chat_template || !parts.template_problem.empty()) break;
    parts.template_problem =
        conv_template_problem(config.json, config.name, *parts.chat_template, parts.tokenizer);
  }
  const std::size_t n_ids = std::max(files.n_model_ids, parts.tokenizer.vocab_size());
  auto ends = config_stop_ids(files.configs, n_ids, parts.tokenizer);
  if (!ends) return forward(ends);
  parts.stop_ids = text::stop_ids(parts.tokenizer, parts.chat_template, *ends);
  return parts;
}

}  // namespace ztvm::engine
