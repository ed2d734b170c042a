#pragma once
// The system's page cache, as far as a program can tell and change it for its own files.
#include <filesystem>
#include <span>

#include "base/error.hpp"

namespace ztvm::app {

// Asks the system to forget the cached pages of the files. What it has not written to the disk yet, or another program
// maps, stays; caches below the system (a host's, the disk's own) are out of reach. Errors: of opening a file.
Result<void> drop_cached(std::span<const std::filesystem::path> files);

// The part of all bytes of the files that is in the cache, 0 to 1. Errors: of opening or mapping a file.
Result<double> cached_share(std::span<const std::filesystem::path> files);

}  // namespace ztvm::app
