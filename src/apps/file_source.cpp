#include "apps/file_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ztvm::app {
namespace {

std::unexpected<Error> fail_errno(const char* what, const std::string& name, int error) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::not_found : ErrorCode::io;
  return fail(code, fmt::format("Cannot {} \"{}\": {}.", what, name, std::generic_category().message(error)));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Result<FileSource> FileSource::open(const std::filesystem::path& path) {
  FileSource source;
  source.name_ = path.string();
  // O_NONBLOCK: opening a FIFO must not wait for a writer. It changes nothing for a regular file.
  source.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source.fd_ < 0) return fail_errno("open", source.name_, errno);
  struct stat info = {};
  if (::fstat(source.fd_, &info) != 0) return fail_errno("examine", source.name_, errno);
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" is {}, expected a file.", source.name_, kind_of(info.st_mode)));
  }
  source.n_bytes_ = static_cast<std::uint64_t>(info.st_size);
  source.modified_s_ = info.st_mtime;
  return source;
}

FileSource::FileSource(FileSource&& other) noexcept { *this = std::move(other); }

FileSource& FileSource::operator=(FileSource&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(n_bytes_, other.n_bytes_);
  std::swap(modified_s_, other.modified_s_);
  std::swap(name_, other.name_);
  return *this;
}

FileSource::~FileSource() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> FileSource::read(std::uint64_t offset, MutableBytes out) const {
  if (offset > n_bytes_ || out.size() > n_bytes_ - offset) {
    return fail(ErrorCode::io, fmt::format("\"{}\" has {} bytes, but bytes {} to {} are asked for.", name_,
                                           n_bytes_, offset, offset + out.size()));
  }
  while (!out.empty()) {
    const ssize_t n_read = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) return fail_errno("read", name_, errno);
    if (n_read == 0) {
      return fail(ErrorCode::io,
                  fmt::format("\"{}\" ends at byte {}, expected {}: it changed while it was read.", name_,
                              offset, n_bytes_));
    }
    offset += static_cast<std::uint64_t>(n_read);
    out = out.subspan(static_cast<std::size_t>(n_read));
  }
  return {};
}

}  // namespace ztvm::app
