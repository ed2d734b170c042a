#include "text/stream_decoder.hpp"

#include <optional>

#include "text/byte_alphabet.hpp"
#include "text/utf8.hpp"

namespace ztvm::text {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// The byte of a token "<0xHH>".
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const std::optional<unsigned> high = hex_digit(token[3]);
  const std::optional<unsigned> low = hex_digit(token[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(*high << 4 | *low));
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer), skip_special_(skip_special), n_strip_left_(tokenizer.decoder().n_strip) {}

Result<void> StreamDecoder::push(TokenId id, std::string& out) {
  Result<std::string_view> token = tokenizer_->token(id);
  if (!token) return forward(token);
  if (skip_special_ && tokenizer_->is_special(id)) return {};
  if (tokenizer_->decoder().byte_level) {
    push_byte_level(*token, out);
  } else {
    push_text(*token, out);
  }
  is_first_ = false;
  return {};
}

void StreamDecoder::finish(std::string& out) {
  if (tokenizer_->decoder().byte_level) {
    append_valid_utf8(out, held_bytes_);
    held_bytes_.clear();
  } else {
    flush_byte_tokens(out);
  }
  is_first_ = true;
  n_strip_left_ = tokenizer_->decoder().n_strip;
}

void StreamDecoder::push_byte_level(std::string_view token, std::string& out) {
  append_token_bytes(held_bytes_, token);
  std::string_view rest = held_bytes_;
  while (!rest.empty()) {
    const Utf8Step step = next_utf8(rest);
    if (step.kind == Utf8Kind::truncated) break;
    out += step.kind == Utf8Kind::complete ? rest.substr(0, step.n_bytes) : k_replacement_character;
    rest.remove_prefix(step.n_bytes);
  }
  held_bytes_.erase(0, held_bytes_.size() - rest.size());
}

void StreamDecoder::push_text(std::string_view token, std::string& out) {
  const DecoderPlan& plan = tokenizer_->decoder();
  token_text_ = token;
  for (const ReplaceText& replacement : plan.replacements) {
    token_text_ = replace_all(token_text_, replacement.from, replacement.to);
  }
  if (!plan.metaspace.empty()) token_text_ = replace_all(token_text_, plan.metaspace, is_first_ ? "" : " ");
  if (plan.byte_fallback) {
    if (const std::optional<char> byte = byte_of(token_text_)) {
      held_bytes_.push_back(*byte);
      return;
    }
    flush_byte_tokens(out);
  }
  emit(token_text_, out);
}

// A row of byte tokens is either one text or as many U+FFFD, which is certain only when the row has ended.
void StreamDecoder::flush_byte_tokens(std::string& out) {
  if (held_bytes_.empty()) return;
  if (is_valid_utf8(held_bytes_)) {
    emit(held_bytes_, out);
  } else {
    for (std::size_t i = 0; i < held_bytes_.size(); ++i) emit(k_replacement_character, out);
  }
  held_bytes_.clear();
}

void StreamDecoder::emit(std::string_view text, std::string& out) {
  const std::string& strip = tokenizer_->decoder().strip;
  while (n_strip_left_ > 0 && !text.empty()) {
    if (!text.starts_with(strip)) {
      n_strip_left_ = 0;
      break;
    }
    text.remove_prefix(strip.size());
    --n_strip_left_;
  }
  out += text;
}

}  // namespace ztvm::text
