#include "apps/download/durable.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "apps/file_source.hpp"

namespace ztvm::app {
namespace {

std::unexpected<Error> fail_io(const char* what, const std::filesystem::path& path) {
  return fail(ErrorCode::io, fmt::format("Cannot {} \"{}\": {}.", what, path.string(),
                                         std::generic_category().message(errno)));
}

// The same of a file that is no use as it is.
std::unexpected<Error> fail_without(const std::string& path, const char* what) {
  auto failed = fail_io(what, path);
  ::unlink(path.c_str());
  return failed;
}

// `write_some(bytes, n_before)` returns what write(2) does.
template <typename F>
bool write_all(Bytes bytes, F write_some) {
  std::uint64_t n_before = 0;
  while (!bytes.empty()) {
    const ssize_t n_written = write_some(bytes, n_before);
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) return false;
    n_before += static_cast<std::uint64_t>(n_written);
    bytes = bytes.subspan(static_cast<std::size_t>(n_written));
  }
  return true;
}

}  // namespace

bool write_fully(int fd, Bytes bytes) {
  return write_all(bytes, [fd](Bytes rest, std::uint64_t) { return ::write(fd, rest.data(), rest.size()); });
}

bool write_fully_at(int fd, std::uint64_t offset, Bytes bytes) {
  return write_all(bytes, [fd, offset](Bytes rest, std::uint64_t n_before) {
    return ::pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(offset + n_before));
  });
}

void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view text) {
  const std::string other = path.string() + ".new";
  ::unlink(other.c_str());  // of a crash; a link would lead elsewhere
  const int fd = ::open(other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return fail_io("write", other);
  const bool written = write_fully(fd, as_bytes(text)) && ::fsync(fd) == 0;
  if (::close(fd) != 0 || !written) return fail_without(other, "write");
  if (::rename(other.c_str(), path.c_str()) != 0) return fail_without(other, "rename");
  sync_folder(path.parent_path());
  return {};
}

Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t max_bytes) {
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  if (file->n_bytes() > max_bytes) {
    return fail(ErrorCode::corrupt_file, fmt::format("\"{}\" has {} bytes, expected at most {}.",
                                                     path.string(), file->n_bytes(), max_bytes));
  }
  std::string text(file->n_bytes(), '\0');
  if (auto read = file->read(0, std::as_writable_bytes(std::span(text))); !read) return forward(read);
  return text;
}

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_io("open", folder);
  FolderLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  return fail(ErrorCode::io, fmt::format("Another process is downloading into \"{}\".", folder.string()));
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace ztvm::app
