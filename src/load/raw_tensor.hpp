#pragma once
// Tensors as a manifest or a safetensors header lists them, before those that belong together are joined.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/checkpoint.hpp"

namespace ztvm::load {

enum class RawType : std::uint8_t { f32, f16, bf16, u32, other };

struct RawTensor {
  std::string name;
  RawType type = RawType::other;
  std::string type_name;             // as the file writes it
  std::vector<std::uint64_t> shape;  // of the stored elements
  std::uint32_t file = 0;
  ByteRange range;
};

// Checks what no single entry shows. Errors: corrupt_file for a name used twice, a range that leaves its file, or two
// that overlap.
Result<void> check_raw_tensors(std::span<const RawTensor> tensors, std::span<const CheckpointFile> files);

// Raw tensors by name.
class RawTable {
 public:
  explicit RawTable(std::span<const RawTensor> tensors);  // outlive the table
  const RawTensor* find(const std::string& name) const;   // nullptr when there is none

 private:
  std::map<std::string_view, const RawTensor*> by_name_;
};

// The base of a name with this ending, "a" of "a.scales"; nothing when it ends otherwise or the base is empty.
std::optional<std::string> without_suffix(std::string_view name, std::string_view suffix);

// f32, f16 and bf16; the others store no values by themselves.
std::optional<Dtype> plain_dtype(RawType type);
TensorPart part_of(const RawTensor& tensor, Dtype dtype);
// A tensor that is a record as it stands: floats, with no dimension of 0. A scalar gets the shape [1].
std::optional<TensorRecord> plain_record(const RawTensor& tensor);

// Errors: corrupt_file for a logical name that two records have, say "a.weight" from "a.weight" and "a.q_weight".
Result<void> check_unique_records(const Checkpoint& checkpoint);

}  // namespace ztvm::load
