#pragma once
// A repository of a hub into a folder: which files it has, whether they fit the disk, and the record of what came.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "apps/download/fetcher.hpp"
#include "apps/download/folder_record.hpp"

namespace ztvm::app {

inline constexpr const char* k_default_hub = "https://huggingface.co";

struct DownloadRequest {
  std::string hub = k_default_hub;
  std::string repo;  // "owner/name"
  std::string file;  // only this .gguf; empty: what the repository's manifests name
  std::filesystem::path folder;
  bool is_repair = false;  // a file that the record does not name may be replaced
};

struct DownloadOptions {
  FetchOptions fetch;
  // Bytes that the disk below a folder has left. Not given: as the system says.
  std::function<std::optional<std::uint64_t>(const std::filesystem::path&)> free_bytes;
};

struct DownloadSummary {
  enum class End : std::uint8_t { complete, was_there, interrupted };
  End end = End::complete;
  std::size_t n_files = 0;
  std::uint64_t n_bytes = 0;
};

// Fetches what is missing; a folder that is recorded as this repository and whole costs no request. From the first byte
// that comes until the end the record says that the folder is not complete. A model's file that the record does not name
// is taken if it has the contents that the hub tells, and never replaced.
// Errors: not_found when the repository has no model; invalid_argument when the folder holds another repository, or such
// a file with other contents; io for network and disk; corrupt_file for wrong contents.
Result<DownloadSummary> download_repo(const DownloadRequest& request, const DownloadOptions& options);

// Fetches the named files of the record again and checks them against its sha256; an unfinished download is finished
// first. `hub` empty: the one that the folder came from. Errors: as download_repo; not_found when the record names no
// repository; corrupt_file when the repository has other contents now.
Result<DownloadSummary> repair_folder(const std::filesystem::path& folder,
                                      const std::vector<std::string>& names, const std::string& hub,
                                      const DownloadOptions& options);

}  // namespace ztvm::app
