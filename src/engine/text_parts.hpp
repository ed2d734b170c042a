#pragma once
// The text side of a model: its tokenizer, its chat template, and the ids that end an answer.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "load/gguf_metadata.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

struct TextParts {
  text::Tokenizer tokenizer;
  std::optional<text::TemplateKind> chat_template;  // none: the model has none, or one that is not known
  std::vector<std::uint32_t> stop_ids;
  std::string template_problem =
      {};  // a sentence on why chats cannot be written; empty: they can, or there is no template
};

// Errors: those of the vocabulary's metadata and of the tokenizer.
Result<TextParts> read_text_parts(const load::GgufMetadata& metadata);

// A config beside the tokenizer, an object.
struct NamedConfig {
  std::string name;
  Json json;
};

// The object of a config file. Errors: corrupt_file for no JSON, another value, and a key that is there twice.
Result<Json> parse_config(std::string_view text, std::string_view name);

// The files of a folder that concern text.
struct TextFiles {
  std::string tokenizer_json;
  std::optional<std::string> tokenizer_config_json;  // may hold the chat template
  std::string chat_template_jinja;                   // or this does; empty: there is none
  std::span<const NamedConfig> configs;              // may name ids that end an answer
  std::string model_type;       // chooses the template where the files hold none, as MLC's often do
  std::size_t n_model_ids = 0;  // rows of the embedding, of which the tokenizer may know fewer
};
// Errors: those of the tokenizer, one that lacks the template's markers, JSON that is none, and an end that is no id.
Result<TextParts> read_text_parts(const TextFiles& files);

}  // namespace ztvm::engine
