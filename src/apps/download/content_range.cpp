#include "apps/download/content_range.hpp"

#include <charconv>
#include <system_error>

namespace ztvm::app {
namespace {

// Takes a decimal number off the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view header) {
  constexpr std::string_view k_unit = "bytes ";
  if (!header.starts_with(k_unit)) return std::nullopt;
  header.remove_prefix(k_unit.size());
  const auto first = take_number(header);
  if (!first || !take(header, '-')) return std::nullopt;
  const auto last = take_number(header);
  if (!last || !take(header, '/')) return std::nullopt;
  const auto n_file_bytes = take_number(header);
  if (!n_file_bytes || !header.empty() || *first > *last || *last >= *n_file_bytes) return std::nullopt;
  return ContentRange{.first = *first, .last = *last, .n_file_bytes = *n_file_bytes};
}

}  // namespace ztvm::app
