#include "apps/download/repo_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/download/content_hash.hpp"
#include "base/bytes.hpp"
#include "base/in_quotes.hpp"
#include "base/json.hpp"
#include "load/json_fields.hpp"

namespace ztvm::app {
namespace {

constexpr std::size_t k_max_name_bytes = 200;
constexpr std::size_t k_max_shards = 10'000;

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

bool is_repo_part(std::string_view part) {
  return is_plain_name(part) &&
         std::ranges::all_of(part, [](char c) { return is_unreserved(c) && c != '~'; });
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

Result<void> add_shard(ShardList& list, std::set<std::string>& names, ShardFile shard,
                       std::string_view manifest) {
  if (!is_plain_name(shard.name)) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} names the file {}, expected a plain name without folders.", manifest,
                            in_quotes(shard.name)));
  }
  if (!load::is_shard_name(shard.name)) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} names the file {} as weights, expected none of a config, a tokenizer or a manifest.",
                    manifest, in_quotes(shard.name)));
  }
  if (!names.insert(shard.name).second) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} names the file {} twice.", manifest, in_quotes(shard.name)));
  }
  if (names.size() > k_max_shards) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} names more than {} files, expected fewer.", manifest, k_max_shards));
  }
  list.shards.push_back(std::move(shard));
  return {};
}

Result<ShardFile> read_mlc_record(const Json& record, std::string_view manifest) {
  auto name = get_string(record, "dataPath", manifest);
  if (!name) return forward(name);
  const auto n_bytes = get_int(record, "nbytes", manifest);
  if (!n_bytes || *n_bytes < 0) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} gives no length for {}, expected whole bytes in \"nbytes\".", manifest,
                            in_quotes(*name)));
  }
  ShardFile shard{.name = std::move(*name), .n_bytes = static_cast<std::uint64_t>(*n_bytes)};
  if (!record.contains("md5sum")) return shard;
  const auto md5 = get_string(record, "md5sum", manifest);
  if (md5) shard.md5 = lower(*md5);
  if (!is_hex(shard.md5, 32)) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has a wrong \"md5sum\" for {}, expected 32 hexadecimal digits.", manifest,
                            in_quotes(shard.name)));
  }
  return shard;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > k_max_name_bytes || name.starts_with('.')) return false;
  if (name.ends_with(".part") || name.ends_with(".journal") || name.ends_with(".new")) return false;
  return !has_control_codes(name) && name.find_first_of("/\\") == std::string_view::npos;
}

Result<ShardList> read_mlc_shards(std::string_view text, std::string_view manifest) {
  const auto json = parse_json_unique(text, manifest);
  if (!json) return std::unexpected(json.error());
  const auto records = json->is_object() ? json->find("records") : json->end();
  if (!json->is_object() || records == json->end() || !records->is_array() || records->empty()) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no shards in \"records\".", manifest));
  }
  ShardList list;
  std::set<std::string> names;
  for (const Json& record : *records) {
    auto shard = read_mlc_record(record, manifest);
    if (!shard) return forward(shard);
    const auto sum = checked_add(list.n_bytes, *shard->n_bytes);
    if (!sum) return fail(ErrorCode::corrupt_file, fmt::format("{} gives lengths beyond 2^64.", manifest));
    list.n_bytes = *sum;
    if (auto added = add_shard(list, names, std::move(*shard), manifest); !added) return forward(added);
  }
  return list;
}

Result<ShardList> read_index_shards(std::string_view text, std::string_view manifest) {
  const auto json = parse_json_unique(text, manifest);
  if (!json) return std::unexpected(json.error());
  const auto map = json->is_object() ? json->find("weight_map") : json->end();
  if (!json->is_object() || map == json->end() || !map->is_object() || map->empty()) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no tensors in \"weight_map\".", manifest));
  }
  std::set<std::string> wanted;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{} gives tensor {} no file name.", manifest, in_quotes(tensor)));
    }
    wanted.insert(file.get<std::string>());
  }
  ShardList list;
  std::set<std::string> names;
  for (const std::string& name : wanted) {
    if (auto added = add_shard(list, names, {.name = name}, manifest); !added) return forward(added);
  }
  const auto metadata = json->find("metadata");
  if (metadata != json->end()) {
    const auto n_bytes = get_number(*metadata, "total_size", manifest);
    constexpr double k_exact = 9007199254740992.0;
    if (n_bytes && *n_bytes > 0 && *n_bytes < k_exact) list.n_bytes = static_cast<std::uint64_t>(*n_bytes);
  }
  return list;
}

Result<RepoName> parse_repo(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" is no repository, expected OWNER/NAME, or OWNER/NAME/FILE.gguf.", text));
  };
  const std::size_t first = text.find('/');
  if (first == std::string_view::npos) return wrong();
  const std::size_t second = std::min(text.find('/', first + 1), text.size());
  if (!is_repo_part(text.substr(0, first)) || !is_repo_part(text.substr(first + 1, second - first - 1))) {
    return wrong();
  }
  RepoName name{.repo = std::string(text.substr(0, second))};
  if (second == text.size()) return name;
  name.file = text.substr(second + 1);
  if (!is_plain_name(name.file) || !name.file.ends_with(".gguf")) return wrong();
  return name;
}

std::string file_url(std::string_view base, std::string_view repo, std::string_view file) {
  std::string url = fmt::format("{}/{}/resolve/main/", base, repo);
  for (const char c : file) {
    if (is_unreserved(c)) {
      url += c;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return url;
}

Result<std::string> parse_hub(std::string_view text) {
  std::string_view host = text;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (host.starts_with(scheme)) host.remove_prefix(scheme.size());
  }
  const bool is_plain = std::ranges::none_of(
      text, [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '?' || c == '#' || c == '"'; });
  while (host.ends_with('/')) {
    host.remove_suffix(1);
    text.remove_suffix(1);
  }
  if (host.size() == text.size() || host.empty() || !is_plain) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" is no address of a hub, expected http://HOST or https://HOST.", text));
  }
  return std::string(text);
}

}  // namespace ztvm::app
