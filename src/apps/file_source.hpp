#pragma once
// A file that is read piece by piece at any offset: how model files reach the engine and the HTTP server.
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// Owns one file descriptor. Reading is thread-safe, because it moves no file position.
class FileSource {
 public:
  // Errors: not_found; invalid_argument for a folder, FIFO or device; io for everything else (permission,
  // disk).
  static Result<FileSource> open(const std::filesystem::path& path);

  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&& other) noexcept;
  ~FileSource();

  std::uint64_t n_bytes() const { return n_bytes_; }
  std::int64_t modified_s() const { return modified_s_; }  // seconds since 1970
  const std::string& name() const { return name_; }        // the path, for messages
  int fd() const { return fd_; }                           // stays this object's

  // Fills `out` from byte `offset`. Errors: io, also when the file has become shorter since it was opened.
  Result<void> read(std::uint64_t offset, MutableBytes out) const;

 private:
  FileSource() = default;

  int fd_ = -1;
  std::uint64_t n_bytes_ = 0;
  std::int64_t modified_s_ = 0;
  std::string name_;
};

}  // namespace ztvm::app
