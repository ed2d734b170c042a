#include "apps/model_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "apps/download/repo_files.hpp"
#include "load/checkpoint_reader.hpp"

namespace ztvm::app {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<ModelSource> ModelSource::open(const fs::path& path) {
  ModelSource source;
  source.path_ = path;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    source.name_ = {.name = path.string(), .is_folder = true, .n_file_bytes = 0};
    return source;
  }
  auto file = FileSource::open(path);
  if (!file) return forward(file);
  source.name_ = {.name = file->name(), .is_folder = false, .n_file_bytes = file->n_bytes()};
  source.files_.emplace(file->name(), std::move(*file));
  return source;
}

// Nothing when the file does not exist.
Result<const FileSource*> ModelSource::find(const std::string& file) {
  if (const auto known = files_.find(file); known != files_.end()) return &known->second;
  if (!is_plain_name(file)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" names the file \"{}\", expected a plain name.", path_.string(), file));
  }
  auto opened = FileSource::open(path_ / file);
  if (!opened && opened.error().code == ErrorCode::not_found) return nullptr;
  if (!opened) return forward(opened);
  return &files_.emplace(file, std::move(*opened)).first->second;
}

Result<bool> ModelSource::read(const load::WantedRange& range, std::vector<std::byte>& bytes,
                               std::uint64_t& n_file_bytes) {
  auto found = find(range.file);
  if (!found) return forward(found);
  if (*found == nullptr) return false;
  const FileSource& file = **found;
  n_file_bytes = file.n_bytes();
  const std::uint64_t n_left = file.n_bytes() - std::min(range.offset, file.n_bytes());
  bytes.resize(std::min(range.n_bytes, n_left));
  if (auto read = file.read(range.offset, bytes); !read) return forward(read);
  return true;
}

Result<load::ModelFiles> read_model_files(const fs::path& path) {
  auto source = ModelSource::open(path);
  if (!source) return forward(source);
  const std::string& name = source->name().name;
  auto reader = source->name().is_folder ? load::CheckpointReader::for_folder(name)
                                         : load::CheckpointReader::for_gguf(name);
  std::vector<std::byte> bytes;
  while (const auto range = reader.wanted()) {
    if (auto supplied = supply_range(reader, *source, *range, bytes); !supplied) return forward(supplied);
  }
  return reader.take();
}

}  // namespace ztvm::app
