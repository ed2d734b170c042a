#pragma once
// The Content-Range header of an answer 206 (RFC 9110, section 14.4).
#include <cstdint>
#include <optional>
#include <string_view>

namespace ztvm::app {

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;          // included
  std::uint64_t n_file_bytes = 0;  // of the whole file
};

// Reads "bytes 0-99/1234"; nothing for other units, a length of "*", and ranges that lie outside the file.
std::optional<ContentRange> parse_content_range(std::string_view header);

}  // namespace ztvm::app
