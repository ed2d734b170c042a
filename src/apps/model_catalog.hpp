#pragma once
// Finds models on the disk: by alias (a folder of a models folder), by folder, or by path.
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
  std::string name;            // of the .gguf without its ending; of a folder, the known name or the alias
  std::filesystem::path path;  // the only .gguf in its folder, or the folder itself
  std::uint64_t n_bytes = 0;   // of the .gguf, or of all files in the folder
  bool is_folder = false;
};

// Where a model is.
struct ModelPath {
  std::filesystem::path path;  // a .gguf file, or a folder with a configuration and weights
  bool is_folder = false;
  std::filesystem::path folder = {};  // that is this model's alone; empty for a .gguf named by itself
};

// The folder that holds the running program.
std::filesystem::path program_folder();

// Where models are looked for, first match wins: $ZEROTVM_MODELS, ./models, and models/ of the source tree
// that the program was built in.
std::vector<std::filesystem::path> model_roots();
// Of these, the one that downloads go to: the first that exists, or else the first.
std::filesystem::path download_root(std::span<const std::filesystem::path> roots);

// True for a folder with mlc-chat-config.json, or with config.json and a .safetensors file.
bool is_model_folder(const std::filesystem::path& folder);

// Every model below `roots`, sorted by alias; of two with the same alias, that of the earlier root. Downloads that have
// not ended are left out.
std::vector<ModelEntry> list_models(std::span<const std::filesystem::path> roots);

// What `model` names: an alias, a folder with exactly one .gguf, a model folder, or a file.
// Errors: not_found, with the aliases that exist, or the command that downloads a known one; invalid_argument for a
// folder that is no model; corrupt_file for a download that has not ended.
Result<ModelPath> resolve_model(std::string_view model, std::span<const std::filesystem::path> roots);

}  // namespace ztvm::app
