#include "apps/download/download.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "apps/download/downloader.hpp"
#include "apps/download/durable.hpp"
#include "apps/download/verify.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;
using End = DownloadSummary::End;

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

// Before anything is asked of the network.
Result<void> check_writable(const fs::path& folder) {
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return fail(ErrorCode::io, fmt::format("Cannot write into folder \"{}\": {}.", folder.string(),
                                         std::generic_category().message(errno)));
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
  // A record without a repository was made by a load: of where the files came from it proves nothing.
  const bool is_proof = *record && !(*record)->repo.empty();
  FolderRecord known = is_proof ? std::move(**record) : FolderRecord{};
  if (holds_all(request.folder, known, request.file)) return summary_of(known, End::was_there);
  if (auto writable = check_writable(request.folder); !writable) return forward(writable);
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
  DownloadRequest request{.hub = hub.empty() ? (*record)->hub : hub,
                          .repo = (*record)->repo,
                          .folder = folder,
                          .is_repair = true};
  if (request.hub.empty()) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("\"{}\" has an empty field \"hub\", expected http://HOST or https://HOST; --mirror "
                    "can name one.",
                    record_path(folder).string()));
  }
  if (auto writable = check_writable(folder); !writable) return forward(writable);
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
