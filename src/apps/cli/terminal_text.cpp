#include "apps/cli/terminal_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/in_quotes.hpp"

namespace ztvm::app {
namespace {

// Bytes of the character at the front; one that is no UTF-8 counts as one byte.
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t n_bytes = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < n_bytes; ++i) {
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return n_bytes;
}

// No code that a terminal takes for a command: newline and tab, and what has neither control codes nor stray bytes.
bool is_plain(std::string_view character) {
  if (character == "\n" || character == "\t") return true;
  const bool is_stray = character.size() == 1 && static_cast<unsigned char>(character.front()) >= 0x80;
  return !is_stray && !has_control_codes(character);
}

std::string with_hex(std::string_view character) {
  std::string shown;
  for (const char c : character) {
    fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

// The text with `replace(character)` for each character.
template <class Replace>
std::string replace_characters(std::string_view text, Replace replace) {
  std::string replaced;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    text.remove_prefix(character.size());
    replaced += replace(character);
  }
  return replaced;
}

}  // namespace

std::string with_codes_shown(std::string_view text) {
  return replace_characters(text, [](std::string_view character) {
    return is_plain(character) ? std::string(character) : with_hex(character);
  });
}

std::string without_codes(std::string_view text) {
  return replace_characters(text, [](std::string_view character) {
    const bool is_direction = character.size() == 3;  // the only ones of three bytes
    return is_plain(character) || is_direction ? character : std::string_view();
  });
}

}  // namespace ztvm::app
