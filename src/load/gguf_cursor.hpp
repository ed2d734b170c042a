#pragma once
// Reads the little-endian fields of a GGUF header one after another, from the first bytes of a file that may
// be longer.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::load {

// No header of a real model comes near it; beyond it a length is damage, and memory is not spent on it.
inline constexpr std::uint64_t k_max_header_bytes = 128ull << 20;

// Stops at the first problem: from then on every read gives zero or nothing, and the reason is kept.
// The caller tests ok() before it uses a value as a length or a count, and at the end of each loop body.
class GgufCursor {
 public:
  // `prefix`: the first bytes of a file of `n_file_bytes` bytes, called `file` in errors; both outlive the
  // cursor.
  GgufCursor(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes);

  // What is read next, as errors name it: `tensor "x"`.
  void enter(std::string context) { context_ = std::move(context); }
  const std::string& context() const { return context_; }

  template <typename T>
  T read() {
    const Bytes bytes = take(sizeof(T));
    return bytes.empty() ? T{} : load_as<T>(bytes, 0);
  }
  Bytes take(std::uint64_t n_bytes);
  // A length of 64 bits and so many bytes. The view is into the prefix.
  std::string_view read_string();

  // Fails unless `count` items of at least `min_bytes` each can still follow in the file.
  void check_count(std::uint64_t count, std::uint64_t min_bytes, std::string_view items);
  void fail(ErrorCode code, std::string text);

  bool ok() const { return !failed_ && n_wanted_ == 0; }
  // Not 0: the prefix is too short, this many bytes from the start of the file are needed to go on.
  std::uint64_t n_wanted() const { return n_wanted_; }
  const Error& error() const { return error_; }

  std::uint64_t position() const { return position_; }
  std::uint64_t n_file_bytes() const { return n_file_bytes_; }
  std::string_view file() const { return file_; }

 private:
  Bytes prefix_;
  std::string_view file_;
  std::uint64_t n_file_bytes_ = 0;
  std::uint64_t position_ = 0;
  std::string context_ = "its header";
  bool failed_ = false;
  Error error_;
  std::uint64_t n_wanted_ = 0;
};

}  // namespace ztvm::load
