#include "apps/download/content_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/download/durable.hpp"
#include "apps/download/repo_files.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

bool begins_with(const ContentHashes& hashes, std::string_view magic) {
  const std::string_view head(reinterpret_cast<const char*>(hashes.head.data()), hashes.head.size());
  return head.starts_with(magic);
}

}  // namespace

std::optional<std::string> wrong_contents(const std::filesystem::path& path, std::string_view name,
                                          const ContentHashes& hashes) {
  const bool is_json = name.ends_with(".json");
  const bool is_gguf = name.ends_with(".gguf");
  const bool is_safetensors = name.ends_with(".safetensors");
  if (hashes.n_bytes == 0 && (is_json || is_gguf || is_safetensors || name.ends_with(".bin"))) {
    return "has no bytes, expected a file of a model.";
  }
  if (is_gguf && !begins_with(hashes, "GGUF")) return "does not begin with \"GGUF\", so it is no GGUF file.";
  if (is_safetensors && hashes.n_bytes < 8) {
    return fmt::format("has {} bytes, which is too few for a safetensors file.", hashes.n_bytes);
  }
  if (!is_json) return std::nullopt;
  const auto text = read_text(path, k_max_manifest_bytes);
  if (!text || Json::accept(*text)) return std::nullopt;  // a text that is too long has its own limits
  const auto refused = parse_json(*text, "It");
  return refused ? std::string("is not valid JSON.") : refused.error().text.substr(3);
}

}  // namespace ztvm::app
