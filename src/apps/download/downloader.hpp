#pragma once
// One run of a download: what the folder has, what the repository's manifests name, and the record of what came.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/download/content_hash.hpp"
#include "apps/download/download.hpp"
#include "apps/download/repo_files.hpp"

namespace ztvm::app {

class Downloader {
 public:
  Downloader(const DownloadRequest& request, const DownloadOptions& options, FolderRecord record)
      : request_(request), options_(options), record_(std::move(record)) {}

  Result<FetchEnd> run();
  // Fetches files that the record has, against their recorded contents.
  Result<FetchEnd> fetch_again(const std::vector<std::string>& names);

  const FolderRecord& record() const { return record_; }

 private:
  std::string url_of(const std::string& name) const { return file_url(request_.hub, request_.repo, name); }
  // Of a folder with files that no record names, first holds those against the repository of which it costs little: so
  // nothing has changed when they turn out to be another model's.
  Result<FetchEnd> fetch_unrecorded();
  std::unexpected<Error> fail_foreign(const std::string& name) const;
  // Manifests and other text first, because they say which weights there are.
  Result<ShardList> fetch_manifests();
  Result<ShardList> safetensors_list();
  static Result<ShardList> empty_or_error(const Result<bool>& result);
  Result<bool> fetch_text_files(bool is_mlc);
  WantedFile text_file(const char* name, bool optional) const;
  // False when the repository does not have the file.
  Result<bool> fetch_text(const char* name, bool optional);
  bool is_recorded_in_place(std::string_view name) const;
  Result<FetchEnd> fetch_shards(const ShardList& list);
  // Whether the file is in place; one that the manifest's md5 confirms is taken into the record.
  Result<bool> is_here(const ShardFile& shard);
  Result<void> check_disk(const std::vector<WantedFile>& missing, std::uint64_t n_missing) const;
  Result<FetchEnd> fetch(std::vector<WantedFile> files, std::uint64_t n_here, std::uint64_t n_expected);
  // From the first byte of the repository on, the folder is not what it was.
  Result<void> note_begun();
  // A file that is in the folder, but not known as this repository's, may only be replaced by the same contents.
  Result<void> guard(WantedFile& file);
  Result<ContentHashes> hash(const std::filesystem::path& path);

  const DownloadRequest& request_;
  const DownloadOptions& options_;
  FolderRecord record_;
  bool is_comparing_ = false;  // what comes does not change the folder
  bool has_begun_ = false;
  bool interrupted_ = false;
};

}  // namespace ztvm::app
