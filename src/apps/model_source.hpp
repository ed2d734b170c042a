#pragma once
// The files of one model on disk: a .gguf, or the folder of an MLC, MLX or Hugging Face model, read by ranges.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/file_source.hpp"
#include "engine/engine.hpp"
#include "load/checkpoint_reader.hpp"

namespace ztvm::app {

class ModelSource {
 public:
  // Errors: those of FileSource::open() for a file; of a folder nothing is read yet.
  static Result<ModelSource> open(const std::filesystem::path& path);

  // What the engine is told: a folder goes by its name, a file by its path.
  const engine::ModelName& name() const { return name_; }

  // Fills `bytes` with a range and sets `n_file_bytes`. False: there is no such file.
  // Errors: io; invalid_argument for a name that leads out of the folder; corrupt_file, naming the file, for a range
  // beyond its end or a whole file that is longer than allowed.
  Result<bool> read(const load::WantedRange& range, std::vector<std::byte>& bytes, std::uint64_t& n_file_bytes);

 private:
  Result<const FileSource*> find(const std::string& file);

  std::filesystem::path path_;
  engine::ModelName name_;
  std::map<std::string, FileSource> files_;
};

}  // namespace ztvm::app
