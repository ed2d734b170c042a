#include "base/in_quotes.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace ztvm {
namespace {

constexpr std::size_t k_max_bytes = 80;

}  // namespace

std::string printable(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, k_max_bytes)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      text += c;
    } else {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (name.size() > k_max_bytes) text += "...";
  return text;
}

std::string in_quotes(std::string_view name) { return "\"" + printable(name) + "\""; }

bool has_control_codes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
    if (byte != 0xE2 || i + 2 >= text.size()) continue;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const auto third = static_cast<unsigned char>(text[i + 2]);
    if (second == 0x80 && third >= 0xAA && third <= 0xAE) return true;  // U+202A to U+202E
    if (second == 0x81 && third >= 0xA6 && third <= 0xA9) return true;  // U+2066 to U+2069
  }
  return false;
}

std::string shown_json(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > k_max_bytes) text = text.substr(0, k_max_bytes) + "...";
  for (char& c : text) c = c == 0x7F ? '?' : c;  // JSON leaves it as it is
  return text;
}

}  // namespace ztvm
