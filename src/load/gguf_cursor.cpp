#include "load/gguf_cursor.hpp"

#include <fmt/format.h>

namespace ztvm::load {

GgufCursor::GgufCursor(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes)
    : prefix_(prefix), file_(file), n_file_bytes_(n_file_bytes) {
  check(prefix.size() <= n_file_bytes, "a prefix is no longer than its file");
}

Bytes GgufCursor::take(std::uint64_t n_bytes) {
  if (!ok()) return {};
  if (n_bytes > n_file_bytes_ - position_) {
    fail(ErrorCode::corrupt_file,
         fmt::format("{} ends inside {}: {} bytes are expected at byte {}, but the file has "
                     "{} bytes.",
                     file_, context_, n_bytes, position_, n_file_bytes_));
    return {};
  }
  const std::uint64_t end = position_ + n_bytes;
  if (end > k_max_header_bytes) {
    fail(ErrorCode::corrupt_file,
         fmt::format("{} has a header that reaches byte {} in {}, expected at most {}.", file_, end, context_,
                     k_max_header_bytes));
    return {};
  }
  if (end > prefix_.size()) {
    n_wanted_ = end;
    return {};
  }
  const Bytes bytes = prefix_.subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(n_bytes));
  position_ = end;
  return bytes;
}

std::string_view GgufCursor::read_string() {
  const Bytes bytes = take(read<std::uint64_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void GgufCursor::check_count(std::uint64_t count, std::uint64_t min_bytes, std::string_view items) {
  const std::uint64_t n_left = n_file_bytes_ - position_;
  if (!ok() || count <= n_left / min_bytes) return;
  fail(ErrorCode::corrupt_file, fmt::format("{} announces {} {} in {}, but only {} bytes follow.", file_,
                                            count, items, context_, n_left));
}

void GgufCursor::fail(ErrorCode code, std::string text) {
  if (!ok()) return;
  failed_ = true;
  error_ = {.code = code, .text = std::move(text)};
}

}  // namespace ztvm::load
