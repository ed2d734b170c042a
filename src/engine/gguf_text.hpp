#pragma once
// The text side of a GGUF: its tokenizer, its chat template, and the ids that end an answer.
#include <cstdint>
#include <optional>
#include <vector>

#include "load/gguf.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace ztvm::engine {

struct TextParts {
  text::Tokenizer tokenizer;
  std::optional<text::TemplateKind> chat_template;  // none: the file has none, or one that is not known
  std::vector<std::uint32_t> stop_ids;
};

// Errors: those of the vocabulary's metadata and of the tokenizer.
Result<TextParts> read_text_parts(const load::GgufFile& file);

}  // namespace ztvm::engine
