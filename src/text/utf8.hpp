#pragma once
// UTF-8, one character at a time. Text enters the tokenizer through to_valid_utf8() and is well formed
// afterwards.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ztvm::text {

inline constexpr std::string_view k_replacement_character = "\xEF\xBF\xBD";  // U+FFFD

// What the bytes at the start of a string are.
enum class Utf8Kind : std::uint8_t {
  complete,   // one well formed character
  truncated,  // the whole string is the beginning of a character
  invalid,    // no character begins like this
};
struct Utf8Step {
  Utf8Kind kind = Utf8Kind::complete;
  std::size_t n_bytes = 0;  // of the character, or of the longest part that one U+FFFD stands for
};

// Classifies the start of the non-empty `bytes` (Unicode 3.9, table 3-7 and "maximal subparts").
Utf8Step next_utf8(std::string_view bytes);

// A character of well formed text.
struct Character {
  char32_t code_point = 0;
  std::size_t n_bytes = 0;
};
// The first character of the non-empty, well formed `text`.
Character first_character(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

bool is_ascii(std::string_view text);
bool is_valid_utf8(std::string_view bytes);
// Appends `bytes`, each ill-formed part replaced by one U+FFFD, as Rust's String::from_utf8_lossy does.
void append_valid_utf8(std::string& out, std::string_view bytes);

}  // namespace ztvm::text
