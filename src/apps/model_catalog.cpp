#include "apps/model_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "apps/download/folder_record.hpp"
#include "apps/download/repo_files.hpp"
#include "apps/known_models.hpp"
#include "base/bytes.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

// The .gguf files of language models directly in `folder`; none when it cannot be read. What llama.cpp calls mmproj-X is
// the part for images of a model X.
std::vector<fs::path> gguf_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unreadable;
    const std::string name = entry->path().filename().string();
    const bool is_other = name.starts_with('.') || name.starts_with("mmproj");
    if (!is_other && entry->path().extension() == ".gguf" && entry->is_regular_file(unreadable)) {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Of the files directly in the folder, without hidden ones and parts.
std::uint64_t folder_bytes(const fs::path& folder) {
  std::uint64_t n_bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code vanished;
    if (!is_plain_name(entry->path().filename().string()) || !entry->is_regular_file(vanished)) continue;
    const std::uint64_t n_file_bytes = entry->file_size(vanished);
    if (!vanished) n_bytes += n_file_bytes;
  }
  return n_bytes;
}

std::unexpected<Error> fail_incomplete(const fs::path& folder) {
  const auto record = read_record(folder);
  std::string repo = record && *record ? (*record)->repo : "";
  if (record && *record) {
    const auto is_gguf = [](const RecordedFile& file) { return file.name.ends_with(".gguf"); };
    const auto gguf = std::ranges::find_if((*record)->files, is_gguf);
    if (gguf != (*record)->files.end()) repo += "/" + gguf->name;
  }
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("The download of \"{0}\" has not ended; \"zerotvm download {1} --to {0}\" goes on with it.",
                  folder.string(), repo));
}

Result<ModelPath> model_of(const fs::path& folder) {
  const auto files = gguf_files(folder);
  if (is_incomplete(folder)) return fail_incomplete(folder);
  // A GGUF beside the files of a folder is an addition to them, such as a projector of images.
  if (is_model_folder(folder)) return ModelPath{.path = folder, .is_folder = true, .folder = folder};
  if (files.size() == 1) return ModelPath{.path = files.front(), .folder = folder};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("Folder \"{}\" holds {} .gguf files, expected exactly one, or mlc-chat-config.json, or "
                  "config.json with .safetensors files.",
                  folder.string(), files.size()));
}

std::vector<ModelEntry> models_in(const fs::path& root) {
  std::vector<ModelEntry> models;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& folder = entry->path();
    const std::string alias = folder.filename().string();
    if (alias.starts_with('.')) continue;
    const auto model = model_of(folder);
    if (!model) continue;
    ModelEntry found{.alias = alias, .path = model->path, .is_folder = model->is_folder};
    if (model->is_folder) {
      const auto known = find_known_model(alias);
      found.name = known ? known->name : alias;
      found.n_bytes = folder_bytes(folder);
    } else {
      std::error_code vanished;
      found.name = model->path.stem().string();
      found.n_bytes = fs::file_size(model->path, vanished);
      if (vanished) continue;
    }
    models.push_back(std::move(found));
  }
  return models;
}

// The folder of an alias below the first root that has one.
std::optional<fs::path> folder_of_alias(std::string_view alias, std::span<const fs::path> roots) {
  if (!is_plain_name(alias)) return std::nullopt;
  std::error_code error;
  for (const fs::path& root : roots) {
    if (fs::is_directory(root / alias, error)) return root / alias;
  }
  return std::nullopt;
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

fs::path download_root(std::span<const fs::path> roots) {
  std::error_code error;
  const auto found =
      std::ranges::find_if(roots, [&](const fs::path& root) { return fs::is_directory(root, error); });
  return found != roots.end() ? *found : roots.front();
}

bool is_model_folder(const fs::path& folder) {
  if (is_file(folder / "mlc-chat-config.json")) return true;
  if (!is_file(folder / "config.json")) return false;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") return true;
  }
  return false;
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

Result<ModelPath> resolve_model(std::string_view model, std::span<const fs::path> roots) {
  const auto models = list_models(roots);
  if (const auto known = std::ranges::find(models, model, &ModelEntry::alias); known != models.end()) {
    return ModelPath{.path = known->path,
                     .is_folder = known->is_folder,
                     .folder = known->is_folder ? known->path : known->path.parent_path()};
  }
  std::error_code error;
  const fs::path path(model);
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return model_of(path);
  if (fs::exists(status)) return ModelPath{.path = path};
  if (const auto folder = folder_of_alias(model, roots); folder && is_incomplete(*folder)) {
    return fail_incomplete(*folder);
  }
  if (const auto known = find_known_model(model)) {
    const bool has_repo = !known->repo.empty();
    return fail(ErrorCode::not_found,
                fmt::format("Model \"{}\" is not on this machine; run \"{}\" first ({}).", model,
                            has_repo ? fmt::format("zerotvm download {}", model) : "./run",
                            format_bytes(known->n_bytes)));
  }
  std::vector<std::string> aliases;
  for (const ModelEntry& entry : models) aliases.push_back(entry.alias);
  for (const KnownModel& known : known_models()) {
    if (std::ranges::find(aliases, known.alias) == aliases.end()) aliases.push_back(known.alias);
  }
  std::vector<std::string> tried;
  for (const fs::path& root : roots) tried.push_back(root.string());
  return fail(
      ErrorCode::not_found,
      fmt::format("Model \"{}\" is no file, no folder and no alias; known aliases: {} (looked in {}).", model,
                  fmt::join(aliases, ", "), fmt::join(tried, ", ")));
}

}  // namespace ztvm::app
