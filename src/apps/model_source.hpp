#pragma once
// The files of one model on disk: a .gguf, or the folder of an MLC, MLX or Hugging Face model, read by ranges.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/file_source.hpp"
#include "engine/engine.hpp"
#include "load/model_files.hpp"

namespace ztvm::app {

class ModelSource {
 public:
  // Errors: those of FileSource::open() for a file; of a folder nothing is read yet.
  static Result<ModelSource> open(const std::filesystem::path& path);

  // What the engine is told: a folder goes by its name, a file by its path.
  const engine::ModelName& name() const { return name_; }

  // Fills `bytes` with a range, as far as the file goes, and sets `n_file_bytes`, the file's length. False: there is no
  // such file. Errors: io; invalid_argument for a name that leads out of the folder.
  Result<bool> read(const load::WantedRange& range, std::vector<std::byte>& bytes,
                    std::uint64_t& n_file_bytes);

 private:
  Result<const FileSource*> find(const std::string& file);

  std::filesystem::path path_;
  engine::ModelName name_;
  std::map<std::string, FileSource> files_;
};

// Hands what `reader` (a load::CheckpointReader or an engine::Engine) wants to it, or says that it is missing.
// `bytes` is reused. Errors: of the files and of the reader.
template <typename Reader>
Result<void> supply_range(Reader& reader, ModelSource& source, const load::WantedRange& range,
                          std::vector<std::byte>& bytes) {
  std::uint64_t n_file_bytes = 0;
  auto found = source.read(range, bytes, n_file_bytes);
  if (!found) return forward(found);
  return *found ? reader.supply(bytes, n_file_bytes) : reader.supply_missing();
}

// What the files of the model at `path` say about themselves, weights unread. Errors: of the files and the format.
Result<load::ModelFiles> read_model_files(const std::filesystem::path& path);

}  // namespace ztvm::app
