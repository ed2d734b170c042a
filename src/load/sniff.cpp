#include "load/sniff.hpp"

#include <algorithm>
#include <string>

namespace ztvm::load {

std::optional<std::string_view> sniff_wrong_file(Bytes prefix) {
  std::string text;
  for (const std::byte b : prefix.first(std::min<std::size_t>(prefix.size(), k_sniff_bytes))) {
    const char c = static_cast<char>(b);
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  if (rest.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer, not the file it points to; fetch the file itself with \"git lfs pull\".";
  }
  if (rest.starts_with("<!doctype html") || rest.starts_with("<html") || rest.starts_with("<head")) {
    return "is an HTML page, not a model; the server it came from answered with a page instead of the file.";
  }
  const bool all_zero =
      !prefix.empty() && std::ranges::all_of(prefix, [](std::byte b) { return b == std::byte{0}; });
  if (all_zero) return "starts with zeros only; it was not downloaded completely.";
  return std::nullopt;
}

}  // namespace ztvm::load
