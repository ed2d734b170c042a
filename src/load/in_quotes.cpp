#include "load/in_quotes.hpp"

#include <fmt/format.h>

#include <iterator>

namespace ztvm::load {

std::string printable(std::string_view name) {
  constexpr std::size_t k_max_bytes = 80;
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

}  // namespace ztvm::load
