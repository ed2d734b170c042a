#include "apps/download/download.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "apps/download/durable.hpp"
#include "apps/download/repo_files.hpp"
#include "apps/download/verify.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;
using End = DownloadSummary::End;

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

class Downloader {
 public:
  Downloader(const DownloadRequest& request, const DownloadOptions& options, FolderRecord record)
      : request_(request), options_(options), record_(std::move(record)) {}

  Result<FetchEnd> run() {
    record_.repo = request_.repo;
    record_.hub = request_.hub;
    record_.complete = false;
    if (auto written = write_record(request_.folder, record_); !written) return forward(written);
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
  Result<FetchEnd> fetch_again(const std::vector<std::string>& names) {
    std::vector<WantedFile> files;
    for (const std::string& name : names) {
      const RecordedFile* file = record_.find(name);
      if (file == nullptr) continue;
      files.push_back({.name = name, .url = url_of(name), .n_bytes = file->n_bytes, .sha256 = file->sha256});
    }
    return fetch(std::move(files), 0, 0);
  }

  const FolderRecord& record() const { return record_; }

 private:
  std::string url_of(const std::string& name) const { return file_url(request_.hub, request_.repo, name); }

  // Manifests and other text first, because they say which weights there are.
  Result<ShardList> fetch_manifests() {
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
      return text ? read_mlc_shards(*text, url_of(manifest))
                  : Result<ShardList>(std::unexpected(text.error()));
    }
    return ShardList{};
  }

  Result<ShardList> safetensors_list() {
    auto has_index = fetch_text(k_index, true);
    if (!has_index || interrupted_) return empty_or_error(has_index);
    if (!*has_index) return ShardList{.shards = {{.name = "model.safetensors"}}};
    auto text = read_text(request_.folder / k_index, k_max_manifest_bytes);
    return text ? read_index_shards(*text, url_of(k_index))
                : Result<ShardList>(std::unexpected(text.error()));
  }

  static Result<ShardList> empty_or_error(const Result<bool>& result) {
    if (!result) return std::unexpected(result.error());
    return ShardList{};
  }

  Result<bool> fetch_text_files(bool is_mlc) {
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

  WantedFile text_file(const char* name, bool optional) const {
    return {.name = name, .url = url_of(name), .max_bytes = k_max_manifest_bytes, .optional = optional};
  }

  // False when the repository does not have the file.
  Result<bool> fetch_text(const char* name, bool optional) {
    if (is_recorded_in_place(name)) return true;
    auto end = fetch({text_file(name, optional)}, 0, 0);
    if (!end) return std::unexpected(end.error());
    return is_recorded_in_place(name);
  }

  bool is_recorded_in_place(std::string_view name) const {
    const RecordedFile* file = record_.find(name);
    return file != nullptr && !file->sha256.empty() && is_in_place(request_.folder, *file);
  }

  Result<FetchEnd> fetch_shards(const ShardList& list) {
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
    if (auto written = write_record(request_.folder, record_); !written) return forward(written);
    const std::uint64_t n_missing = list.n_bytes - std::min(list.n_bytes, n_here);
    if (auto room = check_disk(missing, n_missing); !room) return forward(room);
    return fetch(std::move(missing), n_here, n_missing);
  }

  // Whether the file is in place; one that the manifest's md5 confirms is taken into the record.
  Result<bool> is_here(const ShardFile& shard) {
    if (is_recorded_in_place(shard.name)) return true;
    const fs::path path = request_.folder / shard.name;
    if (shard.md5.empty() || !is_in_place(request_.folder, {.name = shard.name, .n_bytes = shard.n_bytes})) {
      return false;
    }
    auto hashes = hash_file(path, [this](std::uint64_t) {
      interrupted_ = interrupted_ || (options_.fetch.interrupted && options_.fetch.interrupted());
      return !interrupted_;
    });
    if (interrupted_ || (hashes && hashes->md5 != shard.md5)) return false;
    if (!hashes) return std::unexpected(hashes.error());
    record_.put(
        {.name = shard.name, .n_bytes = hashes->n_bytes, .sha256 = hashes->sha256, .published = true});
    return true;
  }

  Result<void> check_disk(const std::vector<WantedFile>& missing, std::uint64_t n_missing) const {
    std::uint64_t n_parts = 0;
    for (const WantedFile& file : missing) n_parts += n_part_bytes(request_.folder / file.name);
    const std::uint64_t n_needed = n_missing - std::min(n_missing, n_parts);
    const auto n_free = free_bytes_of(options_, request_.folder);
    if (!n_free || *n_free >= n_needed) return {};
    return fail(ErrorCode::io,
                fmt::format("The disk of \"{}\" has {} left, the download needs {} more.",
                            request_.folder.string(), format_bytes(*n_free), format_bytes(n_needed)));
  }

  Result<FetchEnd> fetch(std::vector<WantedFile> files, std::uint64_t n_here, std::uint64_t n_expected) {
    if (interrupted_) return FetchEnd::interrupted;
    if (files.empty()) return FetchEnd::complete;
    FetchOptions options = options_.fetch;
    options.on_progress = [&](FetchProgress progress) {
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
      return write_record(request_.folder, record_);
    });
    interrupted_ = interrupted_ || (end && *end == FetchEnd::interrupted);
    return end;
  }

  const DownloadRequest& request_;
  const DownloadOptions& options_;
  FolderRecord record_;
  bool interrupted_ = false;
};

DownloadSummary summary_of(const FolderRecord& record, End end) {
  DownloadSummary summary{.end = end, .n_files = record.files.size()};
  for (const RecordedFile& file : record.files) summary.n_bytes += file.n_bytes.value_or(0);
  return summary;
}

bool holds_all(const fs::path& folder, const FolderRecord& record, const std::string& file) {
  const auto unrecorded = unrecorded_files(folder, record);
  return record.complete && (file.empty() || record.find(file) != nullptr) && unrecorded &&
         unrecorded->empty() &&
         std::ranges::all_of(record.files, [&](const RecordedFile& one) { return is_in_place(folder, one); });
}

// After a repair: a file that the repository does not have stays unknown.
Result<void> check_all_known(const fs::path& folder, const FolderRecord& record) {
  const auto names = unrecorded_files(folder, record);
  if (!names) return std::unexpected(names.error());
  if (names->empty()) return {};
  return fail(ErrorCode::not_found,
              fmt::format("\"{}\" is no file of {}, so nothing tells what it should hold.",
                          (folder / names->front()).string(), record.repo));
}

End end_of(FetchEnd end) { return end == FetchEnd::complete ? End::complete : End::interrupted; }

}  // namespace

Result<DownloadSummary> download_repo(const DownloadRequest& request, const DownloadOptions& options) {
  std::error_code error;
  fs::create_directories(request.folder, error);
  if (error) {
    return fail(ErrorCode::io,
                fmt::format("Cannot create folder \"{}\": {}.", request.folder.string(), error.message()));
  }
  auto lock = FolderLock::take(request.folder);
  if (!lock) return forward(lock);
  auto record = read_record(request.folder);
  if (!record) return forward(record);
  if (*record && !(*record)->repo.empty() && (*record)->repo != request.repo) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("Folder \"{}\" holds {}, not {}; --to names another folder.",
                            request.folder.string(), (*record)->repo, request.repo));
  }
  FolderRecord known = record->value_or(FolderRecord{});
  if (holds_all(request.folder, known, request.file)) return summary_of(known, End::was_there);
  Downloader downloader(request, options, std::move(known));
  auto end = downloader.run();
  if (!end) return forward(end);
  return summary_of(downloader.record(), end_of(*end));
}

Result<DownloadSummary> repair_folder(const fs::path& folder, const std::vector<std::string>& names,
                                      const std::string& hub, const DownloadOptions& options) {
  auto record = read_record(folder);
  if (!record) return forward(record);
  if (!*record || (*record)->repo.empty()) {
    return fail(
        ErrorCode::not_found,
        fmt::format(
            "Nothing tells where the files of \"{}\" came from; \"zerotvm download\" fetches them anew.",
            folder.string()));
  }
  DownloadRequest request{
      .hub = hub.empty() ? (*record)->hub : hub, .repo = (*record)->repo, .folder = folder};
  std::vector<std::string> wrong = names;
  const auto is_recorded = [&](const std::string& name) { return (*record)->find(name) != nullptr; };
  if (!(*record)->complete || !std::ranges::all_of(names, is_recorded)) {
    for (const RecordedFile& file : (*record)->files) {
      if (file.name.ends_with(".gguf")) request.file = file.name;
    }
    for (const std::string& name : names) {
      if (name.ends_with(".gguf")) request.file = name;
    }
    // What the download cannot see: right lengths with wrong contents.
    std::erase_if(wrong, [&](const std::string& name) {
      return !is_recorded(name) || !is_in_place(folder, *(*record)->find(name));
    });
    auto finished = download_repo(request, options);
    if (!finished || finished->end == End::interrupted) return finished;
    record = read_record(folder);
    if (!record) return forward(record);
    if (auto known = check_all_known(folder, **record); !known) return forward(known);
  }
  auto lock = FolderLock::take(folder);
  if (!lock) return forward(lock);
  Downloader downloader(request, options, std::move(**record));
  auto end = downloader.fetch_again(wrong);
  if (!end) return forward(end);
  return summary_of(downloader.record(), end_of(*end));
}

}  // namespace ztvm::app
