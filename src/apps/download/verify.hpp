#pragma once
// Whether a model folder still holds what it held when it was first whole.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/download/file_stamps.hpp"
#include "apps/download/folder_record.hpp"

namespace ztvm::app {

struct FileFault {
  std::string name;
  std::string why;  // one sentence
};

struct VerifyReport {
  std::size_t n_files = 0;
  std::uint64_t n_bytes = 0;
  std::vector<FileFault> faults;
  // What the files that are right were held against: a checksum that the hub or a manifest publishes, or nothing (these
  // are named). The others: only what this machine recorded when it first had them.
  std::size_t n_published = 0;
  std::vector<std::string> not_compared;
  bool can_repair = false;      // the record tells where the files came from
  bool newly_recorded = false;  // there was no record; now there is
  std::string not_recorded;  // why the record of a folder without one could not be written; empty: it could
};

// Called while files are read; false ends the work with an error.
using VerifyProgress =
    std::function<bool(std::string_view name, std::uint64_t n_done, std::uint64_t n_total)>;

// Reads every file. A file that belongs to the model and that the record does not name is a fault. A folder without a
// record is checked against its own manifest, and when all is well its record is made: that is how a folder that came
// another way gets one. Errors: not_found when there is no model in the folder;
// corrupt_file for a record or manifest that cannot be read; io.
Result<VerifyReport> verify_folder(const std::filesystem::path& folder, const VerifyProgress& progress);

// The model's files in the folder, or of its manifest, that `record` does not name. Errors: as expected_files().
Result<std::vector<std::string>> unrecorded_files(const std::filesystem::path& folder,
                                                  const FolderRecord& record);

// Makes the record of a folder that has none or a partial one, as verify_folder() does, but no file is read again that
// the record knows: of those only the length is looked at. What was hashed before `progress` ended the work is kept for
// the next time. Nothing is read where nothing could be written. `before`, if any: what the files were when the model was
// loaded from them. Errors: those of verify_folder(); corrupt_file when a file is not as the manifest or record says, or
// has changed since `before`.
Result<void> record_folder(const std::filesystem::path& folder, const VerifyProgress& progress,
                           const FileStamps& before = {});

}  // namespace ztvm::app
