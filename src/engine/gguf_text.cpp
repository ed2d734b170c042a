#include "engine/gguf_text.hpp"

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

}  // namespace

Result<TextParts> read_text_parts(const load::GgufFile& file) {
  auto fields = load::read_gguf_vocab(file.metadata);
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

}  // namespace ztvm::engine
