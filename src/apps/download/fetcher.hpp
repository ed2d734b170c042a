#pragma once
// Brings files into a folder over several connections, tries again where that may help, checks them, and gives them their
// final names.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/download/backoff.hpp"
#include "apps/download/file_fetch.hpp"

namespace ztvm::app {

struct FetchProgress {
  std::uint64_t n_bytes_done = 0;  // of all files, what earlier runs left included
  std::uint64_t n_bytes = 0;       // of the files whose length is known
  std::size_t n_files_done = 0;
  std::size_t n_files = 0;
};

struct FetchOptions {
  std::uint32_t n_connections = 4;
  std::uint64_t piece_bytes = 16 << 20;
  HttpOptions http;
  Backoff backoff;
  std::function<double()> now_ms;                         // must be given
  std::function<void(double)> sleep_ms;                   // must be given; now_ms moves on by as much
  std::function<bool()> interrupted;                      // asked several times a second
  std::function<void(const FetchProgress&)> on_progress;  // called several times a second
  std::function<void(const std::string&)> on_note;        // a sentence on each further try
};

// The real clock, chance and sleep.
FetchOptions real_fetch_options();

struct FetchedFile {
  std::string name;
  std::uint64_t n_bytes = 0;
  std::string sha256;
  bool published = false;  // the server or the manifest told a checksum, and it agrees
};

enum class FetchEnd : std::uint8_t { complete, interrupted };

// Called when a file is whole and checked, before it gets its final name.
using OnWholeFile = std::function<Result<void>(const FetchedFile&)>;

// Fetches all of `files`; an optional one that the server does not have is left out. After an error or an interruption
// the parts stay, and the next call goes on from them. Errors: not_found, corrupt_file, io; each names the URL.
Result<FetchEnd> fetch_files(const std::filesystem::path& folder, std::vector<WantedFile> files,
                             const FetchOptions& options, const OnWholeFile& on_whole);

}  // namespace ztvm::app
