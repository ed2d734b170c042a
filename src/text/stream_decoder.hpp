#pragma once
// Decodes tokens as they arrive and gives out complete characters only.
#include <string>
#include <string_view>

#include "text/tokenizer.hpp"

namespace ztvm::text {

// All text given out, finish() included, is what decoding the whole list gives. Bytes that may still become a
// character are held back; U+FFFD comes out only where the tokens contain it or no later token can avert it.
class StreamDecoder {
 public:
  // The tokenizer outlives the decoder. `skip_special`: special tokens give no text.
  StreamDecoder(const Tokenizer& tokenizer, bool skip_special);

  // Appends to `out` the text that became certain with `id`. Errors: invalid_argument for an id that no token
  // has; the decoder then stays as it was.
  Result<void> push(TokenId id, std::string& out);
  // Appends what was held back and begins anew.
  void finish(std::string& out);

 private:
  void push_byte_level(std::string_view token, std::string& out);
  void push_text(std::string_view token, std::string& out);
  void flush_byte_tokens(std::string& out);
  void emit(std::string_view text, std::string& out);

  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool is_first_ = true;      // no token was decoded yet
  std::size_t n_strip_left_;  // characters to cut while no text came out yet
  std::string held_bytes_;    // byte level: a character's beginning; byte fallback: a row of byte tokens
  std::string token_text_;    // the token at work, kept for its memory
};

}  // namespace ztvm::text
