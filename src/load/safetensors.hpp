#pragma once
// Safetensors: the header of one file, and the index of several.
// Format: huggingface/safetensors README; a u64 length, so many bytes of JSON, then data. MLX's writer pads nothing and
// keeps no order, so data starts at any byte.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "load/need_bytes.hpp"
#include "load/raw_tensor.hpp"

namespace ztvm::load {

// The tensors of one file; ranges count from the start of the file, and lie inside it.
using SafetensorsProgress = std::variant<NeedBytes, std::vector<RawTensor>>;

// Parses the header from `prefix`, the first bytes (possibly none) of `file`, which has `n_file_bytes`; the tensors
// get `file_index`. Errors: corrupt_file for Git LFS pointers and HTML pages, a length that leaves the file or exceeds
// 100 MiB, a name twice, a type that the format does not define, and offsets that leave the file or contradict shape
// and type. That none overlap is checked by check_raw_tensors().
Result<SafetensorsProgress> parse_safetensors(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes,
                                              std::uint32_t file_index);

// model.safetensors.index.json: the file of each tensor.
struct SafetensorsIndex {
  std::vector<std::string> files;                   // in the order of their names
  std::map<std::string, std::uint32_t> weight_map;  // tensor -> index into files
};
// Errors: corrupt_file for anything but names of plain files, or no tensor at all.
Result<SafetensorsIndex> parse_safetensors_index(std::string_view text, std::string_view file);

// Checks that every tensor of the index is in the file that the index names. Errors: corrupt_file.
Result<void> check_safetensors_index(const SafetensorsIndex& index, std::span<const RawTensor> tensors,
                                     std::string_view index_file);

}  // namespace ztvm::load
