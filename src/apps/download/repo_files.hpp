#pragma once
// Which files a model repository has, from its own manifests. All text here comes from a server: names are checked before
// they become paths, lengths before they become numbers of bytes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::app {

inline constexpr std::uint64_t k_max_manifest_bytes = 64 << 20;  // of any file that is not weights

// A file of weights that a manifest names.
struct ShardFile {
  std::string name;
  std::optional<std::uint64_t> n_bytes;
  std::string md5;  // empty: not given
};

struct ShardList {
  std::vector<ShardFile> shards;
  std::uint64_t n_bytes = 0;  // of all, about; 0: not told
};

// True for a name that stays in its folder and shows as it is: no "/", "\", control character or leading ".", not one of
// our own endings (.part, .journal, .new), at most 200 bytes.
bool is_plain_name(std::string_view name);

// MLC's ndarray-cache.json or tensor-cache.json: shards with lengths and md5.
// Errors: corrupt_file, naming `manifest` and what is wrong.
Result<ShardList> read_mlc_shards(std::string_view text, std::string_view manifest);

// model.safetensors.index.json: names only, and the sum of all tensors. Errors: corrupt_file.
Result<ShardList> read_index_shards(std::string_view text, std::string_view manifest);

// A repository on a hub: "owner/name", or with a file in it, "owner/name/model.gguf".
struct RepoName {
  std::string repo;  // "owner/name"
  std::string file;  // "model.gguf"; empty: all that the manifests name
};
// Errors: invalid_argument.
Result<RepoName> parse_repo(std::string_view text);

// BASE/REPO/resolve/main/FILE, with FILE percent-encoded.
std::string file_url(std::string_view base, std::string_view repo, std::string_view file);

// An http or https address without its last "/". Errors: invalid_argument.
Result<std::string> parse_hub(std::string_view text);

}  // namespace ztvm::app
