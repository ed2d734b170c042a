#pragma once
// Whether a model folder still holds what it held when it was first whole.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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
  bool newly_recorded =
      false;  // there was no record; lengths and md5 of the manifest were checked, and sha256 kept
  std::string not_recorded;  // why the record of a folder without one could not be written; empty: it could
};

// Called while files are read; false ends the work with an error.
using VerifyProgress =
    std::function<bool(std::string_view name, std::uint64_t n_done, std::uint64_t n_total)>;

// Reads every file. A folder without a record is checked against its own manifest, and when all is well its record is
// made: that is how a folder that came another way gets one. Errors: not_found when there is no model in the folder;
// corrupt_file for a record or manifest that cannot be read; io.
Result<VerifyReport> verify_folder(const std::filesystem::path& folder, const VerifyProgress& progress);

// Makes the record of a folder that has none or a partial one, as verify_folder() does, but no file is read again that
// the record knows. What was hashed before `progress` ended the work is kept for the next time. Nothing is read where
// nothing could be written. Errors: those of verify_folder(); corrupt_file when a file is not as the manifest says.
Result<void> record_folder(const std::filesystem::path& folder, const VerifyProgress& progress);

}  // namespace ztvm::app
