#include "apps/download/folder_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/download/durable.hpp"
#include "apps/download/repo_files.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

// The weights that the folder's own manifest names.
Result<ShardList> local_shards(const fs::path& folder) {
  using Reader = Result<ShardList> (*)(std::string_view, std::string_view);
  constexpr std::pair<const char*, Reader> k_manifests[] = {
      {"ndarray-cache.json", read_mlc_shards},
      {"tensor-cache.json", read_mlc_shards},
      {"model.safetensors.index.json", read_index_shards}};
  for (const auto& [name, reader] : k_manifests) {
    if (!has_file(folder, name)) continue;
    const auto text = read_text(folder / name, k_max_manifest_bytes);
    if (!text) return std::unexpected(text.error());
    return reader(*text, fmt::format("\"{}\"", (folder / name).string()));
  }
  if (has_file(folder, "model.safetensors")) return ShardList{.shards = {{.name = "model.safetensors"}}};
  ShardList list;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".gguf") && is_plain_name(name)) list.shards.push_back({.name = name});
  }
  if (!list.shards.empty()) return list;
  return fail(ErrorCode::not_found,
              fmt::format("\"{}\" holds no model: no {}, no index or manifest of weights, no .gguf file.",
                          folder.string(), record_path(folder).filename().string()));
}

}  // namespace

Result<std::vector<ExpectedFile>> expected_files(const fs::path& folder) {
  auto list = local_shards(folder);
  if (!list) return forward(list);
  std::vector<ExpectedFile> expected;
  for (const char* name : k_text_files) {
    if (has_file(folder, name)) expected.push_back({.file = {.name = name}});
  }
  for (ShardFile& shard : list->shards) {
    expected.push_back({.file = {.name = shard.name, .n_bytes = shard.n_bytes}, .md5 = shard.md5});
  }
  return expected;
}

std::vector<std::string> model_files_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    const bool is_text = std::ranges::find(k_text_files, std::string_view(name)) != std::end(k_text_files);
    const bool is_shard = name.starts_with("params_shard_") && name.ends_with(".bin");
    if (is_text || is_shard || name.ends_with(".gguf") || name.ends_with(".safetensors")) {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

bool has_file(const fs::path& folder, const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(folder / name, error);
}

}  // namespace ztvm::app
