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

// The names of text files that a model may have.
inline constexpr const char* k_text_files[] = {
    "mlc-chat-config.json", "ndarray-cache.json",     "tensor-cache.json",
    "config.json",          "generation_config.json", "model.safetensors.index.json",
    "tokenizer.json",       "tokenizer_config.json",  "chat_template.jinja"};

// The files in the folder that look like a model's, by their names: text files as above and weights, in order.
std::vector<std::string> model_files_in(const std::filesystem::path& folder);

}  // namespace ztvm::app
