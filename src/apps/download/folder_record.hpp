#pragma once
// FOLDER/.zerotvm.json: where a model folder came from, and length and sha256 of each file when it was first whole.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::app {

struct RecordedFile {
  std::string name;
  std::optional<std::uint64_t> n_bytes;  // none: not known yet
  std::string sha256;                    // empty: it has not been whole yet
  bool published = false;                // the hub or a manifest told a checksum, and the file agreed with it
};

struct FolderRecord {
  std::string repo;  // "owner/name"; empty: the folder was not downloaded by this program
  std::string hub;   // "https://huggingface.co"
  bool complete = false;
  std::vector<RecordedFile> files;

  // Of a folder that came another way, whose files are being hashed after a load: it does not have all of them yet.
  bool is_partial() const { return repo.empty() && !complete; }
  const RecordedFile* find(std::string_view name) const;
  // Puts a file in, or in the place of the one with its name.
  void put(RecordedFile file);
};

std::filesystem::path record_path(const std::filesystem::path& folder);

// Nothing when the folder has no record. Errors: io; corrupt_file, naming the field.
Result<std::optional<FolderRecord>> read_record(const std::filesystem::path& folder);
// Replaces the record as a whole. Errors: io.
Result<void> write_record(const std::filesystem::path& folder, const FolderRecord& record);

// True when the file is there with the recorded length; its contents are not looked at.
bool is_in_place(const std::filesystem::path& folder, const RecordedFile& file);

// True for a folder whose download began and has not ended.
bool is_incomplete(const std::filesystem::path& folder);

}  // namespace ztvm::app
