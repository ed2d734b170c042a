#include "engine/text_parts.hpp"

#include <array>

#include "load/gguf_vocab.hpp"

namespace ztvm::engine {
namespace {

text::GgufVocab to_text(load::GgufVocabFields fields) {
  text::GgufVocab vocab;
  vocab.model = std::move(fields.model);
  vocab.pre = std::move(fields.pre);
  vocab.tokens = std::move(fields.tokens);
  vocab.merges = std::move(fields.merges);
  vocab.token_types = std::move(fields.token_types);
  vocab.bos_id = fields.bos;
  vocab.eos_id = fields.eos;
  vocab.unk_id = fields.unk;
  vocab.pad_id = fields.pad;
  vocab.add_bos = fields.add_bos;
  vocab.chat_template = std::move(fields.chat_template);
  return vocab;
}

// A tokenizer_config.json holds a template as text, or a list of named ones, of which "default" is for chats.
std::string template_of(const Json& tokenizer_config) {
  if (!tokenizer_config.is_object() || !tokenizer_config.contains("chat_template")) return {};
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

Result<std::optional<text::TemplateKind>> choose_template(const TextFiles& files) {
  std::string jinja(files.chat_template_jinja);
  if (jinja.empty() && !files.tokenizer_config_json.empty()) {
    auto config = parse_json_unique(files.tokenizer_config_json, "tokenizer_config.json");
    if (!config) return forward(config);
    jinja = template_of(*config);
  }
  if (!jinja.empty()) {
    if (auto detected = text::detect_template(jinja)) return *detected;
    return std::nullopt;
  }
  for (const FamilyTemplate& family : k_family_templates) {
    if (family.model_type == files.model_type) return family.kind;
  }
  return std::nullopt;
}

// Ids that a config names as ends: one number, or a list. Others are no ids and say nothing.
void append_ids(const Json& value, std::vector<text::TokenId>& ids) {
  if (value.is_array()) {
    for (const Json& item : value) append_ids(item, ids);
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() <= UINT32_MAX) {
    ids.push_back(value.get<text::TokenId>());
  }
}

std::vector<text::TokenId> config_stop_ids(std::span<const Json> configs) {
  std::vector<text::TokenId> ids;
  for (const Json& config : configs) {
    for (const char* pointer :
         {"/eos_token_id", "/text_config/eos_token_id", "/conv_template/stop_token_ids"}) {
      const Json::json_pointer path(pointer);
      if (config.contains(path)) append_ids(config[path], ids);
    }
  }
  return ids;
}

}  // namespace

Result<TextParts> read_text_parts(const load::GgufMetadata& metadata) {
  auto fields = load::read_gguf_vocab(metadata);
  if (!fields) return forward(fields);
  const text::GgufVocab vocab = to_text(std::move(*fields));
  auto tokenizer = text::Tokenizer::from_gguf(vocab);
  if (!tokenizer) return forward(tokenizer);
  TextParts parts = {.tokenizer = std::move(*tokenizer), .chat_template = {}, .stop_ids = {}};
  if (!vocab.chat_template.empty()) {
    auto detected = text::detect_template(vocab.chat_template);
    if (detected) parts.chat_template = *detected;
  }
  parts.stop_ids = text::stop_ids(parts.tokenizer, parts.chat_template, {});
  return parts;
}

Result<TextParts> read_text_parts(const TextFiles& files) {
  auto tokenizer = text::Tokenizer::from_json(files.tokenizer_json);
  if (!tokenizer) return forward(tokenizer);
  auto chat_template = choose_template(files);
  if (!chat_template) return forward(chat_template);
  TextParts parts = {.tokenizer = std::move(*tokenizer), .chat_template = *chat_template, .stop_ids = {}};
  parts.stop_ids = text::stop_ids(parts.tokenizer, parts.chat_template, config_stop_ids(files.configs));
  return parts;
}

}  // namespace ztvm::engine
