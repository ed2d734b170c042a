#include "apps/download/file_stamps.hpp"

#include <system_error>

namespace ztvm::app {

FileStamps stamps_of(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  FileStamps stamps;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code vanished;
    if (!fs::is_regular_file(entry->path(), vanished)) continue;
    const FileStamp stamp{.n_bytes = fs::file_size(entry->path(), vanished),
                          .changed = fs::last_write_time(entry->path(), vanished)};
    if (!vanished) stamps.emplace(entry->path().filename().string(), stamp);
  }
  return stamps;
}

}  // namespace ztvm::app
