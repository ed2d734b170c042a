#include "load/raw_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

Result<void> check_in_file(const RawTensor& tensor, const CheckpointFile& file) {
  const auto end = checked_add(tensor.range.offset, tensor.range.n_bytes);
  if (end && *end <= file.n_bytes) return {};
  return fail(ErrorCode::corrupt_file,
              fmt::format("Tensor {} has {} bytes from byte {}, but {} ends at byte {}; it may be truncated.",
                          in_quotes(tensor.name), tensor.range.n_bytes, tensor.range.offset, file.name,
                          file.n_bytes));
}

}  // namespace

Result<void> check_raw_tensors(std::span<const RawTensor> tensors, std::span<const CheckpointFile> files) {
  std::vector<const RawTensor*> sorted;
  for (const RawTensor& tensor : tensors) {
    if (auto inside = check_in_file(tensor, files[tensor.file]); !inside) return inside;
    sorted.push_back(&tensor);
  }
  std::ranges::sort(sorted, {}, [](const RawTensor* tensor) -> const std::string& { return tensor->name; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->name != sorted[i]->name) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor {} is listed twice, in {} and in {}.", in_quotes(sorted[i]->name),
                            files[sorted[i - 1]->file].name, files[sorted[i]->file].name));
  }
  std::erase_if(sorted, [](const RawTensor* tensor) { return tensor->range.n_bytes == 0; });
  std::ranges::sort(sorted, {}, [](const RawTensor* t) { return std::pair(t->file, t->range.offset); });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const RawTensor& before = *sorted[i - 1];
    const RawTensor& after = *sorted[i];
    if (before.file != after.file || before.range.end() <= after.range.offset) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensors {} (bytes {} to {}) and {} (from byte {}) overlap in {}.",
                            in_quotes(before.name), before.range.offset, before.range.end(),
                            in_quotes(after.name), after.range.offset, files[after.file].name));
  }
  return {};
}

RawTable::RawTable(std::span<const RawTensor> tensors) {
  for (const RawTensor& tensor : tensors) by_name_.emplace(tensor.name, &tensor);
}

const RawTensor* RawTable::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::optional<std::string> without_suffix(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return std::nullopt;
  return std::string(name.substr(0, name.size() - suffix.size()));
}

std::optional<Dtype> plain_dtype(RawType type) {
  switch (type) {
    case RawType::f32: return Dtype::f32;
    case RawType::f16: return Dtype::f16;
    case RawType::bf16: return Dtype::bf16;
    case RawType::u32:
    case RawType::other: break;
  }
  return std::nullopt;
}

TensorPart part_of(const RawTensor& tensor, Dtype dtype) {
  return {.file = tensor.file, .range = tensor.range, .dtype = dtype};
}

std::optional<TensorRecord> plain_record(const RawTensor& tensor) {
  const auto dtype = plain_dtype(tensor.type);
  if (!dtype || std::ranges::count(tensor.shape, 0u) != 0) return std::nullopt;
  TensorRecord record = {.name = tensor.name, .dtype = *dtype, .shape = tensor.shape, .parts = {}};
  if (record.shape.empty()) record.shape = {1};
  record.parts = {part_of(tensor, *dtype)};
  return record;
}

Result<void> check_unique_records(const Checkpoint& checkpoint) {
  std::map<std::string_view, const TensorRecord*> seen;
  for (const TensorRecord& record : checkpoint.tensors) {
    const auto [first, is_new] = seen.emplace(record.name, &record);
    if (is_new) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensor {} is there twice, in {} as {} and in {} as {}.", in_quotes(record.name),
                            checkpoint.file_of(*first->second), info(first->second->dtype).name,
                            checkpoint.file_of(record), info(record.dtype).name));
  }
  return {};
}

}  // namespace ztvm::load
