#include "apps/bench/page_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "apps/file_source.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> fail_errno(const char* what, const fs::path& file) {
  return fail(ErrorCode::io, fmt::format("Cannot {} \"{}\": {}.", what, file.string(),
                                         std::generic_category().message(errno)));
}

struct Pages {
  std::size_t n_cached = 0;
  std::size_t n_all = 0;
};

Result<Pages> count_pages(const fs::path& path) {
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  const auto n_bytes = static_cast<std::size_t>(file->n_bytes());
  if (n_bytes == 0) return Pages{};
  void* const memory = ::mmap(nullptr, n_bytes, PROT_READ, MAP_SHARED, file->fd(), 0);
  if (memory == MAP_FAILED) return fail_errno("map", path);
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((n_bytes + page_bytes - 1) / page_bytes);
  const bool told = ::mincore(memory, n_bytes, resident.data()) == 0;
  ::munmap(memory, n_bytes);
  if (!told) return fail_errno("examine the cached pages of", path);
  const auto n_cached = std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; });
  return Pages{.n_cached = static_cast<std::size_t>(n_cached), .n_all = resident.size()};
}

}  // namespace

Result<void> drop_cached(std::span<const fs::path> files) {
  for (const fs::path& path : files) {
    auto file = FileSource::open(path);
    if (!file) return forward(file);
    ::posix_fadvise(file->fd(), 0, 0, POSIX_FADV_DONTNEED);
  }
  return {};
}

Result<double> cached_share(std::span<const fs::path> files) {
  Pages all;
  for (const fs::path& path : files) {
    const auto pages = count_pages(path);
    if (!pages) return std::unexpected(pages.error());
    all.n_cached += pages->n_cached;
    all.n_all += pages->n_all;
  }
  return all.n_all == 0 ? 1.0 : static_cast<double>(all.n_cached) / static_cast<double>(all.n_all);
}

}  // namespace ztvm::app
