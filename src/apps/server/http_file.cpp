#include "apps/server/http_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // A number beyond 64 bits is beyond every file.
  if (error == std::errc::result_out_of_range) value = UINT64_MAX;
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_safe_part(std::string_view part) {
  return !part.empty() && !part.starts_with('.') && part.find('\0') == std::string_view::npos &&
         part.find('\\') == std::string_view::npos;
}

}  // namespace

bool lies_inside(const fs::path& root, const fs::path& file) {
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  if (error) return false;
  const fs::path real_file = fs::canonical(file, error);
  if (error) return false;
  const auto [root_end, file_part] =
      std::mismatch(real_root.begin(), real_root.end(), real_file.begin(), real_file.end());
  return root_end == real_root.end();
}

std::optional<fs::path> file_for_url(const fs::path& root, std::string_view url_path) {
  if (!url_path.starts_with('/')) return std::nullopt;
  std::string path(url_path.substr(1));
  if (path.empty() || path.ends_with('/')) path += "index.html";
  fs::path file = root;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (!is_safe_part(rest.substr(0, slash))) return std::nullopt;
    file /= rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  std::error_code error;
  if (!fs::is_regular_file(file, error) || !lies_inside(root, file)) return std::nullopt;
  return file;
}

std::string_view content_type(const fs::path& file) {
  static constexpr auto k_types = std::to_array<std::pair<std::string_view, std::string_view>>({
      {".css", "text/css; charset=utf-8"},
      {".html", "text/html; charset=utf-8"},
      {".ico", "image/x-icon"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".png", "image/png"},
      {".svg", "image/svg+xml"},
      {".txt", "text/plain; charset=utf-8"},
      {".wasm", "application/wasm"},
      {".webmanifest", "application/manifest+json"},
      {".woff2", "font/woff2"},
  });
  const std::string extension = file.extension().string();
  for (const auto& [known, type] : k_types) {
    if (extension == known) return type;
  }
  return "application/octet-stream";
}

BodyRange body_range(std::string_view range_header, std::uint64_t n_file_bytes) {
  const BodyRange whole{.kind = BodyRange::Kind::whole, .offset = 0, .n_bytes = n_file_bytes};
  constexpr std::string_view k_unit = "bytes=";
  if (!range_header.starts_with(k_unit)) return whole;
  const std::string_view range = range_header.substr(k_unit.size());
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return whole;

  const auto end = parse_decimal(range.substr(dash + 1));
  if (dash == 0) {  // "-n": the last n bytes
    if (!end) return whole;
    const std::uint64_t n_bytes = std::min(*end, n_file_bytes);
    if (n_bytes == 0) return {.kind = BodyRange::Kind::unsatisfiable};
    return {.kind = BodyRange::Kind::part, .offset = n_file_bytes - n_bytes, .n_bytes = n_bytes};
  }
  const auto first = parse_decimal(range.substr(0, dash));
  const bool open_end = dash + 1 == range.size();
  if (!first || (!end && !open_end) || (end && *end < *first)) return whole;
  if (*first >= n_file_bytes) return {.kind = BodyRange::Kind::unsatisfiable};
  const std::uint64_t last = open_end ? n_file_bytes - 1 : std::min(*end, n_file_bytes - 1);
  return {.kind = BodyRange::Kind::part, .offset = *first, .n_bytes = last - *first + 1};
}

}  // namespace ztvm::app
