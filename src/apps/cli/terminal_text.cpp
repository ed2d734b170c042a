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

bool is_stray_byte(std::string_view character) {
  return character.size() == 1 && static_cast<unsigned char>(character.front()) >= 0x80;
}

}  // namespace

std::string with_codes_shown(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    text.remove_prefix(character.size());
    const bool is_plain = character == "\n" || character == "\t";
    if (is_plain || !(has_control_codes(character) || is_stray_byte(character))) {
      shown += character;
      continue;
    }
    for (const char c : character) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return shown;
}

std::string without_codes(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    text.remove_prefix(character.size());
    const bool is_direction = character.size() == 3;
    const bool is_plain = character == "\n" || character == "\t" || is_direction;
    if (is_plain || !(has_control_codes(character) || is_stray_byte(character))) clean += character;
  }
  return clean;
}

}  // namespace ztvm::app
