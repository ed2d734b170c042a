#pragma once
// Hashes of file contents: sha256, which the records keep, and md5, which MLC manifests give.
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace ztvm::app {

// Lower-case hexadecimal.
struct ContentHashes {
  std::uint64_t n_bytes = 0;
  std::string sha256;           // 64 digits
  std::string md5;              // 32 digits
  std::vector<std::byte> head;  // the first bytes of the file, for sniffing
};

// Called now and then with the number of bytes read so far; false ends the work.
using HashProgress = std::function<bool(std::uint64_t n_done)>;

// Reads the file once, from start to end. Errors: of the file; io "is interrupted" when `progress` says so.
Result<ContentHashes> hash_file(const std::filesystem::path& path, const HashProgress& progress);

// The sha256 of `bytes`.
std::string sha256_of(Bytes bytes);

// True for exactly `n_digits` of 0-9, a-f.
bool is_hex(std::string_view text, std::size_t n_digits);

}  // namespace ztvm::app
