#pragma once
// Length and time of change of a folder's files: whether one is still what it was some time ago.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace ztvm::app {

struct FileStamp {
  std::uint64_t n_bytes = 0;
  std::filesystem::file_time_type changed;
  bool operator==(const FileStamp&) const = default;
};

using FileStamps = std::map<std::string, FileStamp>;  // by name

// Of the files directly in the folder; empty when it cannot be read.
FileStamps stamps_of(const std::filesystem::path& folder);

}  // namespace ztvm::app
