#pragma once
// What a model folder should hold, as its own manifest or index tells.
#include <filesystem>
#include <string>
#include <vector>

#include "apps/download/folder_record.hpp"

namespace ztvm::app {

struct ExpectedFile {
  RecordedFile file;
  std::string md5;  // as the manifest publishes it; empty: it does not
};

bool has_file(const std::filesystem::path& folder, const std::string& name);

// The weights that the manifest names, and those text files of a model that are there. Errors: not_found when there is no
// model in the folder; corrupt_file for a manifest that cannot be read; io.
Result<std::vector<ExpectedFile>> expected_files(const std::filesystem::path& folder);

}  // namespace ztvm::app
