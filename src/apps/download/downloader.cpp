#include "apps/download/downloader.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/download/durable.hpp"
#include "apps/download/folder_files.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_mlc_config = "mlc-chat-config.json";
constexpr const char* k_index = "model.safetensors.index.json";

// Bytes that a part of an earlier run takes on the disk.
std::uint64_t n_part_bytes(const fs::path& path) {
  struct stat info = {};
  if (::stat((path.string() + ".part").c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

std::optional<std::uint64_t> free_bytes_of(const DownloadOptions& options, const fs::path& folder) {
  if (options.free_bytes) return options.free_bytes(folder);
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(space.available);
}

}  // namespace

Result<FetchEnd> Downloader::run() {
  record_.repo = request_.repo;
  record_.hub = request_.hub;
  record_.complete = false;
  if (auto same = fetch_unrecorded(); !same || interrupted_) return same;
  auto list = request_.file.empty() ? fetch_manifests()
                                    : Result<ShardList>(ShardList{.shards = {{.name = request_.file}}});
  if (!list) return forward(list);
  if (interrupted_) return FetchEnd::interrupted;
  if (auto fetched = fetch_shards(*list); !fetched || interrupted_) return fetched;
  record_.complete = true;
  if (auto written = write_record(request_.folder, record_); !written) return forward(written);
  return FetchEnd::complete;
}

// Fetches files that the record has, against their recorded contents.
Result<FetchEnd> Downloader::fetch_again(const std::vector<std::string>& names) {
  std::vector<WantedFile> files;
  for (const std::string& name : names) {
    const RecordedFile* file = record_.find(name);
    if (file == nullptr) continue;
    files.push_back({.name = name, .url = url_of(name), .n_bytes = file->n_bytes, .sha256 = file->sha256});
  }
  return fetch(std::move(files), 0, 0);
}

// Of a folder with files that no record names, first holds those against the repository of which it costs little: so
// nothing has changed when they turn out to be another model's.
Result<FetchEnd> Downloader::fetch_unrecorded() {
  if (request_.is_repair) return FetchEnd::complete;
  std::vector<WantedFile> files;
  for (const std::string& name : model_files_in(request_.folder)) {
    if (record_.find(name) != nullptr || name == request_.file) continue;
    if (!request_.file.empty() || name.ends_with(".gguf")) return fail_foreign(name);
    if (std::ranges::find(k_text_files, name) == std::end(k_text_files)) continue;
    files.push_back(text_file(name.c_str(), true));
  }
  const std::vector<WantedFile> asked = files;
  is_comparing_ = true;
  auto end = fetch(std::move(files), 0, 0);
  is_comparing_ = false;
  if (!end) {
    for (const WantedFile& file : asked) PartFile::discard(request_.folder / file.name);
  }
  if (!end || interrupted_) return end;
  for (const WantedFile& file : asked) {
    if (record_.find(file.name) == nullptr) return fail_foreign(file.name);
  }
  return end;
}

std::unexpected<Error> Downloader::fail_foreign(const std::string& name) const {
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("Folder \"{}\" holds \"{}\", which is not recorded as a file of {}; move it away, or "
                  "name another folder with --to.",
                  request_.folder.string(), name, request_.repo));
}

// Manifests and other text first, because they say which weights there are.
Result<ShardList> Downloader::fetch_manifests() {
  auto is_mlc = fetch_text(k_mlc_config, true);
  if (!is_mlc || interrupted_) return empty_or_error(is_mlc);
  if (auto rest = fetch_text_files(*is_mlc); !rest || interrupted_) return empty_or_error(rest);
  if (!*is_mlc) return safetensors_list();
  for (const char* manifest : {"ndarray-cache.json", "tensor-cache.json"}) {
    const bool is_last = std::string_view(manifest).starts_with("tensor");
    auto found = fetch_text(manifest, !is_last);
    if (!found || interrupted_) return empty_or_error(found);
    if (!*found) continue;
    auto text = read_text(request_.folder / manifest, k_max_manifest_bytes);
    return text ? read_mlc_shards(*text, url_of(manifest)) : Result<ShardList>(std::unexpected(text.error()));
  }
  return ShardList{};
}

Result<ShardList> Downloader::safetensors_list() {
  auto has_index = fetch_text(k_index, true);
  if (!has_index || interrupted_) return empty_or_error(has_index);
  if (!*has_index) return ShardList{.shards = {{.name = "model.safetensors"}}};
  auto text = read_text(request_.folder / k_index, k_max_manifest_bytes);
  return text ? read_index_shards(*text, url_of(k_index)) : Result<ShardList>(std::unexpected(text.error()));
}

Result<ShardList> Downloader::empty_or_error(const Result<bool>& result) {
  if (!result) return std::unexpected(result.error());
  return ShardList{};
}

Result<bool> Downloader::fetch_text_files(bool is_mlc) {
  if (!is_mlc) {
    auto found = fetch_text("config.json", true);
    if (!found || interrupted_) return found;
    if (!*found) {
      return fail(
          ErrorCode::not_found,
          fmt::format("{}/{} has neither {} nor config.json, so it is no model that this program reads; "
                      "a GGUF is asked for as {}/FILE.gguf.",
                      request_.hub, request_.repo, k_mlc_config, request_.repo));
    }
  }
  std::vector<WantedFile> files = {text_file("tokenizer.json", false)};
  for (const char* name : {"tokenizer_config.json", "generation_config.json", "chat_template.jinja"}) {
    files.push_back(text_file(name, true));
  }
  std::erase_if(files, [this](const WantedFile& file) { return is_recorded_in_place(file.name); });
  if (auto end = fetch(std::move(files), 0, 0); !end) return std::unexpected(end.error());
  return true;
}

WantedFile Downloader::text_file(const char* name, bool optional) const {
  return {.name = name, .url = url_of(name), .max_bytes = k_max_manifest_bytes, .optional = optional};
}

// False when the repository does not have the file.
Result<bool> Downloader::fetch_text(const char* name, bool optional) {
  if (is_recorded_in_place(name)) return true;
  auto end = fetch({text_file(name, optional)}, 0, 0);
  if (!end) return std::unexpected(end.error());
  return is_recorded_in_place(name);
}

bool Downloader::is_recorded_in_place(std::string_view name) const {
  const RecordedFile* file = record_.find(name);
  return file != nullptr && !file->sha256.empty() && is_in_place(request_.folder, *file);
}

Result<FetchEnd> Downloader::fetch_shards(const ShardList& list) {
  std::vector<WantedFile> missing;
  std::uint64_t n_here = 0;
  for (const ShardFile& shard : list.shards) {
    auto here = is_here(shard);
    if (!here) return std::unexpected(here.error());
    if (*here) {
      n_here += record_.find(shard.name)->n_bytes.value_or(0);
      continue;
    }
    record_.put({.name = shard.name, .n_bytes = shard.n_bytes});
    missing.push_back(
        {.name = shard.name, .url = url_of(shard.name), .n_bytes = shard.n_bytes, .md5 = shard.md5});
  }
  const std::uint64_t n_missing = list.n_bytes - std::min(list.n_bytes, n_here);
  if (auto room = check_disk(missing, n_missing); !room) return forward(room);
  return fetch(std::move(missing), n_here, n_missing);
}

// Whether the file is in place; one that the manifest's md5 confirms is taken into the record.
Result<bool> Downloader::is_here(const ShardFile& shard) {
  if (is_recorded_in_place(shard.name)) return true;
  const fs::path path = request_.folder / shard.name;
  if (shard.md5.empty() || !is_in_place(request_.folder, {.name = shard.name, .n_bytes = shard.n_bytes})) {
    return false;
  }
  auto hashes = hash(path);
  if (interrupted_ || (hashes && hashes->md5 != shard.md5)) return false;
  if (!hashes) return std::unexpected(hashes.error());
  record_.put({.name = shard.name, .n_bytes = hashes->n_bytes, .sha256 = hashes->sha256, .published = true});
  return true;
}

Result<void> Downloader::check_disk(const std::vector<WantedFile>& missing, std::uint64_t n_missing) const {
  std::uint64_t n_parts = 0;
  for (const WantedFile& file : missing) n_parts += n_part_bytes(request_.folder / file.name);
  const std::uint64_t n_needed = n_missing - std::min(n_missing, n_parts);
  const auto n_free = free_bytes_of(options_, request_.folder);
  if (!n_free || *n_free >= n_needed) return {};
  return fail(ErrorCode::io,
              fmt::format("The disk of \"{}\" has {} left, the download needs {} more.",
                          request_.folder.string(), format_bytes(*n_free), format_bytes(n_needed)));
}

Result<FetchEnd> Downloader::fetch(std::vector<WantedFile> files, std::uint64_t n_here,
                                   std::uint64_t n_expected) {
  for (WantedFile& file : files) {
    if (auto guarded = guard(file); !guarded) return forward(guarded);
  }
  if (interrupted_) return FetchEnd::interrupted;
  if (files.empty()) return FetchEnd::complete;
  FetchOptions options = options_.fetch;
  options.on_progress = [&](FetchProgress progress) {
    // An error shows when a file is whole, at the latest.
    if (progress.n_bytes_done > 0) (void)note_begun();
    progress.n_bytes = n_here + std::max(progress.n_bytes, n_expected);
    progress.n_bytes_done += n_here;
    if (options_.fetch.on_progress) options_.fetch.on_progress(progress);
  };
  auto end = fetch_files(request_.folder, std::move(files), options, [this](const FetchedFile& file) {
    const RecordedFile* known = record_.find(file.name);
    const bool was_published = known != nullptr && known->published && known->sha256 == file.sha256;
    record_.put({.name = file.name,
                 .n_bytes = file.n_bytes,
                 .sha256 = file.sha256,
                 .published = file.published || was_published});
    return is_comparing_ ? Result<void>() : write_record(request_.folder, record_);
  });
  interrupted_ = interrupted_ || (end && *end == FetchEnd::interrupted);
  return end;
}

// From the first byte of the repository on, the folder is not what it was.
Result<void> Downloader::note_begun() {
  if (is_comparing_ || has_begun_) return {};
  has_begun_ = true;
  return write_record(request_.folder, record_);
}

// A file that is in the folder, but not known as this repository's, may only be replaced by the same contents.
Result<void> Downloader::guard(WantedFile& file) {
  const RecordedFile* known = record_.find(file.name);
  const bool is_ours = known != nullptr && !known->sha256.empty();
  if (request_.is_repair || is_ours || interrupted_ || !has_file(request_.folder, file.name)) return {};
  const fs::path path = request_.folder / file.name;
  if (file.n_bytes && !is_in_place(request_.folder, {.name = file.name, .n_bytes = file.n_bytes})) {
    return std::unexpected(other_contents(path, file.url));
  }
  auto hashes = hash(path);
  if (interrupted_) return {};
  if (!hashes) return std::unexpected(hashes.error());
  if (!file.md5.empty() && hashes->md5 != file.md5) return std::unexpected(other_contents(path, file.url));
  file.here_sha256 = hashes->sha256;
  return {};
}

Result<ContentHashes> Downloader::hash(const fs::path& path) {
  return hash_file(path, [this](std::uint64_t) {
    interrupted_ = interrupted_ || (options_.fetch.interrupted && options_.fetch.interrupted());
    return !interrupted_;
  });
}

}  // namespace ztvm::app
