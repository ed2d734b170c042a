#include "load/mlc_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/bytes.hpp"
#include "base/in_quotes.hpp"
#include "load/json_fields.hpp"
#include "load/raw_tensor.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint32_t k_group = 32;  // of q4f16_1

struct MlcType {
  std::string_view name;
  RawType type;
  std::uint32_t bytes;  // an element
};
constexpr std::array k_types = {MlcType{"uint32", RawType::u32, 4}, MlcType{"float16", RawType::f16, 2},
                                MlcType{"float32", RawType::f32, 4}, MlcType{"bfloat16", RawType::bf16, 2}};

// What `n_bytes` hold, which decides between float32 and bfloat16.
Result<RawType> stored_type(const RawTensor& tensor, std::string_view file) {
  const auto refuse = [&](ErrorCode code, std::string_view what) {
    return fail(code, fmt::format("Tensor {} has {}, in {}.", in_quotes(tensor.name), what, file));
  };
  const auto type = std::ranges::find(k_types, tensor.type_name, &MlcType::name);
  if (type == k_types.end()) {
    return refuse(ErrorCode::unsupported,
                  fmt::format("the dtype {}, supported are uint32, float16, float32 and bfloat16",
                              in_quotes(tensor.type_name)));
  }
  const auto count = element_count(tensor.shape);
  const auto n_bytes = count ? checked_mul(*count, type->bytes) : std::nullopt;
  if (!n_bytes || *n_bytes == 0) {
    return refuse(ErrorCode::corrupt_file, fmt::format("shape {}, expected 1 to 2^64 - 1 bytes of {}",
                                                       shape_text(tensor.shape), type->name));
  }
  if (tensor.range.n_bytes == *n_bytes) return type->type;
  if (type->type == RawType::f32 && tensor.range.n_bytes == *n_bytes / 2) return RawType::bf16;
  return refuse(ErrorCode::corrupt_file,
                fmt::format("{} bytes, expected {} for shape {} of {}", tensor.range.n_bytes, *n_bytes,
                            shape_text(tensor.shape), type->name));
}

Result<RawTensor> read_record(const Json& record, std::uint32_t file_index, std::string_view file) {
  auto name = get_string(record, "name", fmt::format("A tensor record of {}", file));
  if (!name) return forward(name);
  const std::string what = fmt::format("Tensor {} in {}", in_quotes(*name), file);
  if (name->empty())
    return fail(ErrorCode::corrupt_file, fmt::format("{} has a tensor without a name.", file));
  auto type_name = get_string(record, "dtype", what);
  if (!type_name) return forward(type_name);
  auto shape = get_lengths(record, "shape", what);
  if (!shape) return forward(shape);
  auto n_bytes = get_length(record, "nbytes", what);
  if (!n_bytes) return forward(n_bytes);
  auto offset = get_length(record, "byteOffset", what);
  if (!offset) return forward(offset);
  RawTensor tensor = {.name = std::move(*name),
                      .type_name = std::move(*type_name),
                      .shape = std::move(*shape),
                      .file = file_index,
                      .range = {.offset = *offset, .n_bytes = *n_bytes}};
  auto type = stored_type(tensor, file);
  if (!type) return forward(type);
  tensor.type = *type;
  return tensor;
}

// The file of a shard; its records are read by the caller.
Result<CheckpointFile> read_shard(const Json& shard, std::string_view file) {
  const std::string what = fmt::format("A shard of {}", file);
  auto path = get_string(shard, "dataPath", what);
  if (!path) return forward(path);
  if (!is_shard_name(*path)) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} names a shard {}, expected a plain file name of weights.", file, in_quotes(*path)));
  }
  const std::string named = fmt::format("Shard {} of {}", in_quotes(*path), file);
  auto n_bytes = get_length(shard, "nbytes", named);
  if (!n_bytes) return forward(n_bytes);
  auto format = get_string(shard, "format", named);
  if (!format) return forward(format);
  if (*format != "raw-shard") {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has the format {}, supported is raw-shard.", named, in_quotes(*format)));
  }
  CheckpointFile result = {.name = std::move(*path), .n_bytes = *n_bytes, .md5 = {}};
  if (shard.contains("md5sum")) {
    auto md5 = get_string(shard, "md5sum", named);
    if (!md5) return forward(md5);
    result.md5 = std::move(*md5);
  }
  return result;
}

Result<std::vector<RawTensor>> read_shards(const Json& root, std::string_view file,
                                           std::vector<CheckpointFile>& files) {
  auto shards = get_array(root, "records", file);
  if (!shards) return forward(shards);
  std::vector<RawTensor> tensors;
  std::set<std::string> names;
  for (const Json& shard : **shards) {
    auto shard_file = read_shard(shard, file);
    if (!shard_file) return forward(shard_file);
    if (!names.insert(shard_file->name).second) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{} lists the shard {} twice.", file, in_quotes(shard_file->name)));
    }
    auto records =
        get_array(shard, "records", fmt::format("Shard {} of {}", in_quotes(shard_file->name), file));
    if (!records) return forward(records);
    const auto index = static_cast<std::uint32_t>(files.size());
    files.push_back(std::move(*shard_file));
    for (const Json& record : **records) {
      auto tensor = read_record(record, index, file);
      if (!tensor) return forward(tensor);
      tensors.push_back(std::move(*tensor));
    }
  }
  return tensors;
}

// The matrix of a pair whose shapes must fit each other.
Result<TensorRecord> join_pair(const RawTensor& words, const RawTensor& scales, const std::string& base,
                               std::string_view file) {
  if (words.type != RawType::u32 || scales.type != RawType::f16) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("Tensors {} and {} have the dtypes {} and {}, expected uint32 and float16, in {}.",
                    in_quotes(words.name), in_quotes(scales.name), words.type_name, scales.type_name, file));
  }
  // 32 elements are 4 words and one scale; the rest of the shapes is the same.
  const bool fits = words.shape.size() >= 2 && words.shape.size() == scales.shape.size() &&
                    std::ranges::equal(std::span(words.shape).first(words.shape.size() - 1),
                                       std::span(scales.shape).first(scales.shape.size() - 1)) &&
                    words.shape.back() % 4 == 0 && words.shape.back() / 4 == scales.shape.back();
  if (!fits) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("Tensors {} of shape {} and {} of shape {} do not fit: expected [.., n, k/8] and "
                            "[.., n, k/32], in {}.",
                            in_quotes(words.name), shape_text(words.shape), in_quotes(scales.name),
                            shape_text(scales.shape), file));
  }
  TensorRecord record = {.name = base + ".weight",
                         .dtype = Dtype::mlc_q4,
                         .bits = 4,
                         .group = k_group,
                         .shape = words.shape,
                         .parts = {}};
  record.shape.back() = words.shape.back() * 8;  // the bytes fit 64 bits, so this does
  record.parts = {part_of(words, Dtype::mlc_q4), part_of(scales, Dtype::f16)};
  return record;
}

std::unexpected<Error> orphan(const RawTensor& half, const std::string& other, std::string_view file) {
  return fail(ErrorCode::corrupt_file, fmt::format("Tensor {} has no {} to go with it, in {}.",
                                                   in_quotes(half.name), in_quotes(other), file));
}

// The record that `tensor` becomes; nothing for scales, which their words bring along.
Result<std::optional<TensorRecord>> join(const RawTensor& tensor, const RawTable& table,
                                         std::string_view file) {
  if (const auto base = without_suffix(tensor.name, ".q_weight")) {
    const RawTensor* scales = table.find(*base + ".q_scale");
    if (scales == nullptr) return orphan(tensor, *base + ".q_scale", file);
    return join_pair(tensor, *scales, *base, file);
  }
  if (const auto base = without_suffix(tensor.name, ".q_scale")) {
    if (table.find(*base + ".q_weight") == nullptr) return orphan(tensor, *base + ".q_weight", file);
    return std::optional<TensorRecord>();
  }
  auto record = plain_record(tensor);
  if (record) return record;
  return fail(
      ErrorCode::unsupported,
      fmt::format("Tensor {} has the dtype {}, supported only for names that end in .q_weight, in {}.",
                  in_quotes(tensor.name), tensor.type_name, file));
}

}  // namespace

Result<Checkpoint> parse_mlc_manifest(std::string_view text, std::string_view file, std::string_view folder) {
  auto root = parse_json_unique(text, file);
  if (!root) return forward(root);
  Checkpoint checkpoint = {.name = std::string(folder), .files = {}, .tensors = {}, .skipped = {}};
  auto tensors = read_shards(*root, file, checkpoint.files);
  if (!tensors) return forward(tensors);
  if (tensors->empty()) return fail(ErrorCode::corrupt_file, fmt::format("{} lists no tensor.", file));
  if (auto checked = check_raw_tensors(*tensors, checkpoint.files); !checked) return forward(checked);
  const RawTable table(*tensors);
  for (const RawTensor& tensor : *tensors) {
    auto record = join(tensor, table, file);
    if (!record) return forward(record);
    if (*record) checkpoint.tensors.push_back(std::move(**record));
  }
  if (auto unique = check_unique_records(checkpoint); !unique) return forward(unique);
  return checkpoint;
}

Result<void> check_mlc_quantisation(std::string_view text, std::string_view file) {
  auto config = parse_json_unique(text, file);
  if (!config) return forward(config);
  if (!config->is_object() || !config->contains("quantization")) return {};
  auto name = get_string(*config, "quantization", file);
  if (!name) return forward(name);
  constexpr std::array<std::string_view, 4> k_known = {"q4f16_1", "q0f16", "q0f32", "q0bf16"};
  if (std::ranges::count(k_known, *name) != 0) return {};
  return fail(
      ErrorCode::unsupported,
      fmt::format("{} names the quantization {}, supported is q4f16_1 or none.", file, in_quotes(*name)));
}

}  // namespace ztvm::load
