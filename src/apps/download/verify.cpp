#include "apps/download/verify.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/download/content_check.hpp"
#include "apps/download/content_hash.hpp"
#include "apps/download/durable.hpp"
#include "apps/download/folder_files.hpp"
#include "apps/file_source.hpp"
#include "load/sniff.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

// The fault of one file, empty when it is right. `file` gets length and sha256.
Result<std::string> fault_of(const fs::path& folder, const ExpectedFile& expected, RecordedFile& file,
                             const HashProgress& progress) {
  if (!has_file(folder, expected.file.name)) {
    const auto opened = FileSource::open(folder / expected.file.name);
    const bool is_other = !opened && opened.error().code == ErrorCode::invalid_argument;
    return is_other ? opened.error().text : "It is missing.";
  }
  std::error_code error;
  const std::uint64_t n_bytes = fs::file_size(folder / expected.file.name, error);
  if (!error && expected.file.n_bytes && n_bytes != *expected.file.n_bytes) {
    return fmt::format("It has {} bytes, expected {}.", n_bytes, *expected.file.n_bytes);
  }
  auto hashes = hash_file(folder / expected.file.name, progress);
  if (!hashes) return forward(hashes);
  file = {.name = expected.file.name,
          .n_bytes = hashes->n_bytes,
          .sha256 = hashes->sha256,
          .published = expected.file.published || !expected.md5.empty()};
  if (!expected.file.sha256.empty() && hashes->sha256 != expected.file.sha256) {
    return fmt::format("It has sha256 {}, expected {}.", hashes->sha256, expected.file.sha256);
  }
  if (!expected.md5.empty() && hashes->md5 != expected.md5) {
    return fmt::format("It has md5 {}, expected {}.", hashes->md5, expected.md5);
  }
  const bool is_known = !expected.md5.empty() || !expected.file.sha256.empty();
  if (const auto wrong = load::sniff_wrong_file(hashes->head); wrong && !is_known)
    return fmt::format("It {}", *wrong);
  if (const auto unfit = is_known
                             ? std::nullopt
                             : wrong_contents(folder / expected.file.name, expected.file.name, *hashes)) {
    return fmt::format("It {}", *unfit);
  }
  return std::string();
}

// What a file is held against besides the record that is being made.
bool is_published(const ExpectedFile& expected) { return expected.file.published || !expected.md5.empty(); }

HashProgress progress_of(const VerifyProgress& progress, const ExpectedFile& one) {
  return [&](std::uint64_t n_done) {
    return !progress || progress(one.file.name, n_done, one.file.n_bytes.value_or(n_done));
  };
}

std::unexpected<Error> fail_file(const fs::path& path, std::string_view fault) {
  return fail(ErrorCode::corrupt_file, fmt::format("\"{}\": {}", path.string(), fault));
}

// Adds the files that `record` lacks. Errors: as record_folder().
Result<void> record_missing(const fs::path& folder, const VerifyProgress& progress, const FileStamps& before,
                            FolderRecord& record) {
  auto expected = expected_files(folder);
  if (!expected) return forward(expected);
  for (const ExpectedFile& one : *expected) {
    if (record.find(one.file.name) != nullptr) continue;
    RecordedFile file;
    auto fault = fault_of(folder, one, file, progress_of(progress, one));
    if (!fault) return forward(fault);
    if (!fault->empty()) return fail_file(folder / one.file.name, *fault);
    const auto was = before.find(one.file.name);
    const FileStamps now = before.empty() ? FileStamps{} : stamps_of(folder);
    if (!before.empty() &&
        (was == before.end() || !now.contains(was->first) || now.at(was->first) != was->second)) {
      return fail_file(folder / one.file.name,
                       "It has changed since the model was loaded, so it is not recorded.");
    }
    record.put(std::move(file));
  }
  record.complete = true;
  return {};
}

// A recorded file that is missing or has another length is another one than was recorded.
Result<void> check_lengths(const fs::path& folder, const FolderRecord& record) {
  for (const RecordedFile& file : record.files) {
    if (!file.n_bytes || is_in_place(folder, file)) continue;
    return fail_file(folder / file.name,
                     fmt::format("It is missing or has another length than the {} bytes that are recorded.",
                                 *file.n_bytes));
  }
  return {};
}

// The files of the record, and what the folder's manifest adds to it; a file beyond the record becomes a fault.
Result<std::vector<ExpectedFile>> expected_of_record(const fs::path& folder, const FolderRecord& record,
                                                     VerifyReport& report) {
  std::vector<ExpectedFile> expected;
  for (const RecordedFile& file : record.files) expected.push_back({.file = file});
  auto from_manifest = expected_files(folder);
  // A manifest that is damaged or missing has a fault of its own, if the record names it.
  if (!from_manifest && record.files.empty()) return forward(from_manifest);
  if (!from_manifest) return expected;
  for (const ExpectedFile& one : *from_manifest) {
    const auto known = std::ranges::find(expected, one.file.name, [](const auto& e) { return e.file.name; });
    if (known != expected.end()) {
      known->md5 = one.md5;
      continue;
    }
    ++report.n_files;
    report.faults.push_back({one.file.name, has_file(folder, one.file.name)
                                                ? "The record (.zerotvm.json) does not name it."
                                                : "It is missing, and the record does not name it."});
  }
  return expected;
}

// Everything that a folder without a whole record should hold; what is recorded already counts.
Result<std::vector<ExpectedFile>> expected_of_manifest(const fs::path& folder,
                                                       const std::optional<FolderRecord>& record) {
  auto expected = expected_files(folder);
  if (!expected || !record) return expected;
  for (ExpectedFile& one : *expected) {
    const RecordedFile* known = record->find(one.file.name);
    if (known != nullptr) one.file = *known;
  }
  return expected;
}

}  // namespace

Result<std::vector<std::string>> unrecorded_files(const fs::path& folder, const FolderRecord& record) {
  auto expected = expected_files(folder);
  if (!expected) return forward(expected);
  std::vector<std::string> names;
  for (const ExpectedFile& one : *expected) {
    if (record.find(one.file.name) == nullptr) names.push_back(one.file.name);
  }
  return names;
}

Result<void> record_folder(const fs::path& folder, const VerifyProgress& progress, const FileStamps& before) {
  if (::access(folder.c_str(), W_OK) != 0) return {};
  const auto lock = FolderLock::take(folder);
  if (!lock) return std::unexpected(lock.error());
  auto known = read_record(folder);
  if (!known) return forward(known);
  FolderRecord record = known->value_or(FolderRecord{});
  if (auto same = check_lengths(folder, record); !same) return same;
  if (*known && !(*known)->is_partial()) return {};
  const std::size_t n_before = record.files.size();
  auto done = record_missing(folder, progress, before, record);
  if (record.files.size() == n_before && !record.complete) return done;
  if (auto written = write_record(folder, record); !written) return written;
  return done;
}

Result<VerifyReport> verify_folder(const fs::path& folder, const VerifyProgress& progress) {
  auto record = read_record(folder);
  if (!record) return forward(record);
  const bool is_recorded = *record && !(*record)->is_partial();
  VerifyReport report{.can_repair = *record && !(*record)->repo.empty()};
  auto expected =
      is_recorded ? expected_of_record(folder, **record, report) : expected_of_manifest(folder, *record);
  if (!expected) return forward(expected);
  report.n_files += expected->size();
  FolderRecord fresh{.complete = true};
  for (const ExpectedFile& one : *expected) {
    RecordedFile file;
    auto fault = fault_of(folder, one, file, progress_of(progress, one));
    if (!fault) return forward(fault);
    report.n_bytes += file.n_bytes.value_or(0);
    if (fault->empty() && is_recorded && (*record)->complete && one.file.sha256.empty()) {
      *fault = "The record (.zerotvm.json) has no sha256 of it.";
    }
    if (!fault->empty()) {
      report.faults.push_back({one.file.name, std::move(*fault)});
    } else if (is_published(one)) {
      ++report.n_published;
    } else if (one.file.sha256.empty()) {
      report.not_compared.push_back(one.file.name);
    }
    fresh.put(std::move(file));
  }
  if (is_recorded && !(*record)->complete && report.faults.empty()) {
    report.faults.push_back({"the download", "It has not ended yet."});
  }
  if (!is_recorded && report.faults.empty()) {
    const auto written = write_record(folder, fresh);
    report.newly_recorded = written.has_value();
    if (!written) report.not_recorded = written.error().text;
  }
  return report;
}

}  // namespace ztvm::app
