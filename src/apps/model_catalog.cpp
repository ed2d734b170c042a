#include "apps/model_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

// The .gguf files directly in `folder`; none when it cannot be read.
std::vector<fs::path> gguf_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unreadable;
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (!hidden && entry->path().extension() == ".gguf" && entry->is_regular_file(unreadable)) {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

Result<fs::path> only_gguf_of(const fs::path& folder) {
  const auto files = gguf_files(folder);
  if (files.size() == 1) return files.front();
  return fail(ErrorCode::invalid_argument,
              fmt::format("Folder \"{}\" holds {} .gguf files, expected exactly one.", folder.string(),
                          files.size()));
}

std::vector<ModelEntry> models_in(const fs::path& root) {
  std::vector<ModelEntry> models;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    const std::string alias = entry->path().filename().string();
    const auto files = gguf_files(entry->path());
    if (alias.starts_with('.') || files.size() != 1) continue;
    std::error_code vanished;
    const std::uint64_t n_bytes = fs::file_size(files.front(), vanished);
    if (!vanished) models.push_back({alias, files.front().stem().string(), files.front(), n_bytes});
  }
  return models;
}

}  // namespace

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<fs::path> model_roots() {
  std::vector<fs::path> roots;
  if (const char* named = std::getenv("ZEROTVM_MODELS"); named != nullptr && *named != '\0')
    roots.emplace_back(named);
  roots.emplace_back("models");
  roots.push_back((program_folder() / "../../models").lexically_normal());
  return roots;
}

std::vector<ModelEntry> list_models(std::span<const fs::path> roots) {
  std::vector<ModelEntry> models;
  for (const fs::path& root : roots) {
    for (ModelEntry& entry : models_in(root)) {
      if (std::ranges::find(models, entry.alias, &ModelEntry::alias) == models.end()) {
        models.push_back(std::move(entry));
      }
    }
  }
  std::ranges::sort(models, {}, &ModelEntry::alias);
  return models;
}

Result<fs::path> resolve_model(std::string_view model, std::span<const fs::path> roots) {
  const auto models = list_models(roots);
  if (const auto known = std::ranges::find(models, model, &ModelEntry::alias); known != models.end()) {
    return known->file;
  }
  std::error_code error;
  const fs::path path(model);
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return only_gguf_of(path);
  if (fs::exists(status)) return path;

  std::vector<std::string> aliases;
  for (const ModelEntry& entry : models) aliases.push_back(entry.alias);
  std::vector<std::string> tried;
  for (const fs::path& root : roots) tried.push_back(root.string());
  return fail(
      ErrorCode::not_found,
      fmt::format("Model \"{}\" is no file, no folder and no alias; known aliases: {} (looked in {}).", model,
                  aliases.empty() ? "none" : fmt::format("{}", fmt::join(aliases, ", ")),
                  fmt::join(tried, ", ")));
}

}  // namespace ztvm::app
