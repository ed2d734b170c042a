#pragma once
// Finds model files: by alias (a folder of a models folder), by folder, or by path.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ztvm::app {

// One model that can be asked for by alias.
struct ModelEntry {
  std::string alias;           // name of its folder: "smollm2"
  std::string name;            // file name without ".gguf"
  std::filesystem::path file;  // the only .gguf in its folder
  std::uint64_t n_bytes = 0;
};

// The folder that holds the running program.
std::filesystem::path program_folder();

// Where models are looked for, first match wins: $ZEROTVM_MODELS, ./models, and models/ of the source tree
// that the program was built in.
std::vector<std::filesystem::path> model_roots();

// Every model below `roots`, sorted by alias; of two with the same alias, that of the earlier root.
std::vector<ModelEntry> list_models(std::span<const std::filesystem::path> roots);

// The file that `model` names: an alias, a folder with exactly one .gguf, or a file.
// Errors: not_found, with the aliases that exist; invalid_argument for a folder with none or several .gguf
// files.
Result<std::filesystem::path> resolve_model(std::string_view model,
                                            std::span<const std::filesystem::path> roots);

}  // namespace ztvm::app
