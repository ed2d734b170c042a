#pragma once
// The text side of a model: its tokenizer, its chat template, and the ids that end an answer.
#include <cstdint>
#include <optional>
#include <span>
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
};

// Errors: those of the vocabulary's metadata and of the tokenizer.
Result<TextParts> read_text_parts(const load::GgufMetadata& metadata);

// The files of a folder that concern text; what is missing is empty.
struct TextFiles {
  std::string tokenizer_json;
  std::string tokenizer_config_json;  // may hold the chat template
  std::string chat_template_jinja;    // or this does
  std::span<const Json> configs;      // may name ids that end an answer
  std::string model_type;             // chooses the template where the files hold none, as MLC's often do
};
// Errors: those of the tokenizer, and of JSON that is none.
Result<TextParts> read_text_parts(const TextFiles& files);

}  // namespace ztvm::engine
