#pragma once
// A model's folder in memory, so that tests can damage it, and what reads it as a program would.
#include <filesystem>
#include <map>
#include <string>

#include "load/checkpoint_reader.hpp"
#include "load/weight_stream.hpp"
#include "read_file.hpp"

namespace ztvm::test {

struct ModelFolder {
  std::map<std::string, std::string> files;  // name -> bytes

  // The folder `path`, relative to the root of the sources.
  static ModelFolder open(const std::string& path) {
    ModelFolder folder;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(ZTVM_SOURCE_DIR) + "/" + path)) {
      const std::string name = entry.path().filename().string();
      folder.files[name] = read_source_file(path + "/" + name);
    }
    return folder;
  }

  // The bytes of the range that the file has.
  Bytes read(const load::WantedRange& range) const {
    const Bytes bytes = as_bytes(files.at(range.file));
    if (range.whole) return bytes;
    const std::uint64_t offset = std::min<std::uint64_t>(range.offset, bytes.size());
    return bytes.subspan(offset, std::min<std::uint64_t>(range.n_bytes, bytes.size() - offset));
  }
};

inline Result<load::ModelFiles> read_model(
    const ModelFolder& folder,
    load::CheckpointReader reader = load::CheckpointReader::for_folder("the model")) {
  while (const auto range = reader.wanted()) {
    const bool there = folder.files.contains(range->file);
    auto supplied = there ? reader.supply(folder.read(*range), folder.files.at(range->file).size())
                          : reader.supply_missing();
    if (!supplied) return std::unexpected(supplied.error());
  }
  return reader.take();
}

// Runs the steps; each slot becomes a string of its bytes.
inline Result<std::map<std::uint32_t, std::string>> read_weights(const ModelFolder& folder,
                                                                 const load::Checkpoint& checkpoint,
                                                                 std::vector<load::UploadStep> steps) {
  std::map<std::uint32_t, std::string> slots;
  load::WeightStream stream(std::move(steps), checkpoint.files);
  while (const auto range = stream.wanted()) {
    if (!folder.files.contains(range->file)) return std::unexpected(stream.missing());
    auto writes = stream.supply(folder.read(*range), folder.files.at(range->file).size());
    if (!writes) return std::unexpected(writes.error());
    for (const load::BufferWrite& write : *writes) {
      std::string& slot = slots[write.place.slot];
      slot.resize(std::max<std::size_t>(slot.size(), write.place.offset + write.bytes.size()));
      std::memcpy(slot.data() + write.place.offset, write.bytes.data(), write.bytes.size());
    }
  }
  return slots;
}

}  // namespace ztvm::test
