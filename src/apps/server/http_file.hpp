#pragma once
// What a static file server decides for each request, apart from sockets: which file, which bytes, which
// type.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ztvm::app {

// The file below `root` that the decoded URL path names ("/" and folders name their index.html), or nothing:
// for files that do not exist, dotfiles, "..", and links that lead out of `root`.
std::optional<std::filesystem::path> file_for_url(const std::filesystem::path& root,
                                                  std::string_view url_path);

// True when `file`, links resolved, lies in `root`.
bool lies_inside(const std::filesystem::path& root, const std::filesystem::path& file);

// The Content-Type for a file's extension; application/octet-stream for all it does not know.
std::string_view content_type(const std::filesystem::path& file);

// Part of a file that a response carries.
struct BodyRange {
  enum class Kind : std::uint8_t { whole, part, unsatisfiable };
  Kind kind = Kind::whole;
  std::uint64_t offset = 0;
  std::uint64_t n_bytes = 0;
};

// Applies a Range header (RFC 9110, section 14) to a file of `n_file_bytes`. Several ranges, other units and
// what cannot be parsed are ignored, as the RFC allows: the whole file is sent.
BodyRange body_range(std::string_view range_header, std::uint64_t n_file_bytes);

}  // namespace ztvm::app
