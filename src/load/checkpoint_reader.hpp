#pragma once
// Reads what a model's files say about themselves, pulling one range after another: a .gguf, or a folder of MLC or
// safetensors files. No weights are read, and nothing but headers, configs and the factors of RoPE is held.
//
//   while (const auto range = reader.wanted()) {
//     read it, then reader.supply(bytes, n_file_bytes), or reader.supply_missing() when there is no such file;
//   }
//   use(reader.take());
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "load/affine_config.hpp"
#include "load/model_files.hpp"
#include "load/safetensors.hpp"
#include "load/wanted_range.hpp"

namespace ztvm::load {

class CheckpointReader {
 public:
  // `file` and `folder` name the model in errors; `file` is what wanted() asks for.
  static CheckpointReader for_gguf(std::string_view file);
  static CheckpointReader for_folder(std::string_view folder);

  // What to supply next; nothing once all is read, or after an error.
  std::optional<WantedRange> wanted() const;
  // The bytes of wanted(), fewer where the file ends earlier, and the length of the whole file. Errors: corrupt_file or
  // unsupported, naming file and tensor; corrupt_file for a file longer than its cap.
  Result<void> supply(Bytes bytes, std::uint64_t n_file_bytes);
  // There is no such file. Errors: not_found unless the range was optional.
  Result<void> supply_missing();
  // The model, once wanted() gives nothing and no call has failed.
  ModelFiles take();

 private:
  // What is asked for, in this order; a missing optional file may lead elsewhere.
  enum class Stage : std::uint8_t {
    gguf_header,
    rope_factors,
    mlc_chat_config,
    ndarray_cache,
    tensor_cache,
    config,
    index,
    safetensors_header,
    tokenizer,
    tokenizer_config,
    generation_config,
    chat_template,
    done,
  };
  struct TextFile;
  static const TextFile* text_file(Stage stage);

  CheckpointReader(Stage first, std::string_view name);
  Result<void> supply_text(const TextFile& file, Bytes bytes, std::uint64_t n_file_bytes);
  Result<void> take_text(std::string_view text, std::string_view file);
  Result<void> supply_header(Bytes bytes, std::uint64_t n_file_bytes);
  Result<void> supply_gguf(std::uint64_t n_file_bytes);
  Result<void> supply_rope_factors(Bytes bytes);
  Result<void> supply_safetensors(std::uint64_t n_file_bytes);
  Result<void> finish_safetensors();
  void name_shards(std::vector<std::string> names);

  Stage stage_;
  bool failed_ = false;
  ModelFiles files_;
  // The header that is being read: its bytes so far, how many are wanted in all, the length of its file.
  std::vector<std::byte> header_;
  std::uint64_t n_header_bytes_ = 0;
  std::optional<std::uint64_t> n_file_bytes_;
  // Safetensors only.
  AffineConfig affine_;
  std::optional<SafetensorsIndex> index_;
  std::size_t next_shard_ = 0;
  std::vector<RawTensor> raw_;
};

}  // namespace ztvm::load
