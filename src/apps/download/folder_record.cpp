#include "apps/download/folder_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/download/content_hash.hpp"
#include "apps/download/durable.hpp"
#include "apps/download/repo_files.hpp"
#include "base/in_quotes.hpp"
#include "base/json.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_version = 1;

Result<RecordedFile> read_file_entry(const Json& entry, std::string_view what) {
  auto name = get_string(entry, "name", what);
  if (!name) return forward(name);
  RecordedFile file{.name = std::move(*name)};
  if (!is_plain_name(file.name)) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} names the file {}, expected a plain name without folders.", what,
                            in_quotes(file.name)));
  }
  if (entry.contains("bytes")) {
    const auto n_bytes = get_int(entry, "bytes", what);
    if (!n_bytes) return std::unexpected(n_bytes.error());
    if (*n_bytes < 0) return fail(ErrorCode::corrupt_file, fmt::format("{} has negative \"bytes\".", what));
    file.n_bytes = static_cast<std::uint64_t>(*n_bytes);
  }
  if (!entry.contains("sha256")) return file;
  auto sha256 = get_string(entry, "sha256", what);
  if (!sha256) return forward(sha256);
  if (!is_hex(*sha256, 64) || !file.n_bytes) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} has a wrong \"sha256\" for {}, expected 64 hexadecimal digits beside \"bytes\".",
                    what, in_quotes(file.name)));
  }
  file.sha256 = std::move(*sha256);
  if (!entry.contains("published")) return file;
  const auto published = get_bool(entry, "published", what);
  if (!published) return std::unexpected(published.error());
  file.published = *published;
  return file;
}

// Where the folder came from: both are printed and asked for, so they are what a user could have given.
Result<void> check_origin(const FolderRecord& record, std::string_view what) {
  if (const auto repo = parse_repo(record.repo); !record.repo.empty() && (!repo || !repo->file.empty())) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has the repository {}, expected OWNER/NAME.", what, in_quotes(record.repo)));
  }
  if (!record.hub.empty() && !parse_hub(record.hub)) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} has the hub {}, expected http://HOST or https://HOST.", what, in_quotes(record.hub)));
  }
  return {};
}

}  // namespace

const RecordedFile* FolderRecord::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &RecordedFile::name);
  return found == files.end() ? nullptr : &*found;
}

void FolderRecord::put(RecordedFile file) {
  const auto found = std::ranges::find(files, file.name, &RecordedFile::name);
  if (found == files.end()) {
    files.push_back(std::move(file));
  } else {
    *found = std::move(file);
  }
}

fs::path record_path(const fs::path& folder) { return folder / ".zerotvm.json"; }

Result<std::optional<FolderRecord>> read_record(const fs::path& folder) {
  const fs::path path = record_path(folder);
  std::error_code error;
  if (!fs::exists(path, error) && !error) return std::nullopt;
  const auto text = read_text(path, k_max_manifest_bytes);
  if (!text) return std::unexpected(text.error());
  const std::string what = fmt::format("\"{}\"", path.string());
  const auto json = parse_json_unique(*text, what);
  if (!json) return std::unexpected(json.error());
  const auto version = get_int(*json, "version", what);
  if (!version) return std::unexpected(version.error());
  if (*version != k_version) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has version {}, expected {}.", what, *version, k_version));
  }
  auto repo = get_string(*json, "repo", what);
  if (!repo) return forward(repo);
  auto hub = get_string(*json, "hub", what);
  if (!hub) return forward(hub);
  const auto complete = get_bool(*json, "complete", what);
  if (!complete) return std::unexpected(complete.error());
  const auto files = json->find("files");
  if (files == json->end() || !files->is_array()) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has no list \"files\".", what));
  }
  FolderRecord record{.repo = std::move(*repo), .hub = std::move(*hub), .complete = *complete};
  if (auto origin = check_origin(record, what); !origin) return forward(origin);
  for (const Json& entry : *files) {
    auto file = read_file_entry(entry, what);
    if (!file) return forward(file);
    if (record.find(file->name) != nullptr) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{} names the file {} twice.", what, in_quotes(file->name)));
    }
    record.put(std::move(*file));
  }
  return record;
}

Result<void> write_record(const fs::path& folder, const FolderRecord& record) {
  OrderedJson json;
  json["version"] = k_version;
  json["repo"] = record.repo;
  json["hub"] = record.hub;
  json["complete"] = record.complete;
  json["files"] = OrderedJson::array();
  for (const RecordedFile& file : record.files) {
    OrderedJson entry;
    entry["name"] = file.name;
    if (file.n_bytes) entry["bytes"] = *file.n_bytes;
    if (!file.sha256.empty()) entry["sha256"] = file.sha256;
    if (file.published) entry["published"] = true;
    json["files"].push_back(std::move(entry));
  }
  return replace_file(record_path(folder), dump_json(json) + "\n");
}

bool is_in_place(const fs::path& folder, const RecordedFile& file) {
  std::error_code error;
  const fs::path path = folder / file.name;
  if (!fs::is_regular_file(path, error)) return false;
  const std::uint64_t n_bytes = fs::file_size(path, error);
  return !error && file.n_bytes == n_bytes;
}

bool is_incomplete(const fs::path& folder) {
  const auto record = read_record(folder);
  return record && *record && !(*record)->repo.empty() && !(*record)->complete;
}

}  // namespace ztvm::app
