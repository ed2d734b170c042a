#pragma once
// Small file operations that leave the disk in a state one can come back to after a crash.
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// False with errno set.
bool write_fully(int fd, Bytes bytes);
bool write_fully_at(int fd, std::uint64_t offset, Bytes bytes);

// Makes renames in the folder durable, as far as the file system can.
void sync_folder(const std::filesystem::path& folder);

// Replaces a file as a whole: readers see the old text or the new one, never a part. Errors: io.
Result<void> replace_file(const std::filesystem::path& path, std::string_view text);

// The text of a file of at most `max_bytes`. Errors: of the file; corrupt_file when it is longer.
Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t max_bytes);

// Held while one process works in a folder.
class FolderLock {
 public:
  // Errors: io, when another process holds it or the folder cannot be opened.
  static Result<FolderLock> take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace ztvm::app
