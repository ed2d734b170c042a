#include "load/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "load/json_fields.hpp"
#include "load/sniff.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_length_bytes = 8;
constexpr std::uint64_t k_max_json_bytes = 100ull << 20;

struct SafetensorsType {
  std::string_view name;
  std::uint32_t bits;  // an element
  RawType type = RawType::other;
};
constexpr std::array k_safetensors_types = {
    SafetensorsType{"F32", 32, RawType::f32},
    SafetensorsType{"F16", 16, RawType::f16},
    SafetensorsType{"BF16", 16, RawType::bf16},
    SafetensorsType{"U32", 32, RawType::u32},
    SafetensorsType{"BOOL", 8},
    SafetensorsType{"U8", 8},
    SafetensorsType{"I8", 8},
    SafetensorsType{"F8_E5M2", 8},
    SafetensorsType{"F8_E4M3", 8},
    SafetensorsType{"F8_E8M0", 8},
    SafetensorsType{"F8_E4M3FNUZ", 8},
    SafetensorsType{"F8_E5M2FNUZ", 8},
    SafetensorsType{"F4", 4},
    SafetensorsType{"F6_E2M3", 6},
    SafetensorsType{"F6_E3M2", 6},
    SafetensorsType{"I16", 16},
    SafetensorsType{"U16", 16},
    SafetensorsType{"I32", 32},
    SafetensorsType{"I64", 64},
    SafetensorsType{"U64", 64},
    SafetensorsType{"F64", 64},
    SafetensorsType{"C64", 64},
};

struct DataArea {
  std::string_view file;
  std::uint64_t first_byte = 0;
  std::uint64_t n_bytes = 0;
  std::uint32_t file_index = 0;
};

// Bytes of `count` elements; nothing on overflow, or when elements of 4 or 6 bits do not fill the last byte.
std::optional<std::uint64_t> bytes_of(std::optional<std::uint64_t> count, std::uint32_t bits) {
  if (!count) return std::nullopt;
  const auto n_bits = checked_mul(*count, bits);
  if (!n_bits || *n_bits % 8 != 0) return std::nullopt;
  return *n_bits / 8;
}

Result<ByteRange> read_offsets(const Json& entry, const std::string& what, const DataArea& area) {
  auto offsets = get_lengths(entry, "data_offsets", what);
  if (!offsets) return forward(offsets);
  if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} has data_offsets {}, expected a begin and an end.",
                                                     what, shape_text(*offsets)));
  }
  if ((*offsets)[1] > area.n_bytes) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} ends at byte {} of the data, but the file has only {} bytes of data; it may be "
                    "truncated.",
                    what, (*offsets)[1], area.n_bytes));
  }
  return ByteRange{.offset = area.first_byte + (*offsets)[0], .n_bytes = (*offsets)[1] - (*offsets)[0]};
}

Result<RawTensor> read_entry(const std::string& name, const Json& entry, const DataArea& area) {
  const std::string what = fmt::format("Tensor {} in {}", in_quotes(name), area.file);
  if (name.empty())
    return fail(ErrorCode::corrupt_file, fmt::format("{} has a tensor without a name.", area.file));
  auto type_name = get_string(entry, "dtype", what);
  if (!type_name) return forward(type_name);
  const auto type = std::ranges::find(k_safetensors_types, *type_name, &SafetensorsType::name);
  if (type == k_safetensors_types.end()) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} has the dtype {}, which safetensors does not define.", what, in_quotes(*type_name)));
  }
  auto shape = get_lengths(entry, "shape", what);
  if (!shape) return forward(shape);
  auto range = read_offsets(entry, what, area);
  if (!range) return forward(range);
  const auto n_bytes = bytes_of(element_count(*shape), type->bits);
  if (!n_bytes || *n_bytes != range->n_bytes) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} has {} bytes, expected {} for shape {} of {}.", what, range->n_bytes,
                            n_bytes ? std::to_string(*n_bytes) : "fewer than 2^64 whole ones",
                            shape_text(*shape), type->name));
  }
  return RawTensor{.name = name,
                   .type = type->type,
                   .type_name = std::string(type->name),
                   .shape = std::move(*shape),
                   .file = area.file_index,
                   .range = *range};
}

Result<std::uint64_t> read_json_length(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes) {
  if (const auto wrong = sniff_wrong_file(prefix)) {
    return fail(ErrorCode::corrupt_file, fmt::format("{} {}", file, *wrong));
  }
  if (n_file_bytes <= k_length_bytes) {
    return fail(
        ErrorCode::corrupt_file,
        fmt::format("{} has {} bytes, expected a safetensors file, which has a header.", file, n_file_bytes));
  }
  const auto length = load_as<std::uint64_t>(prefix, 0);
  const std::uint64_t most = std::min(n_file_bytes - k_length_bytes, k_max_json_bytes);
  if (length >= 2 && length <= most) return length;
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("{} announces a safetensors header of {} bytes, expected 2 to {}; it may be truncated, or "
                  "no safetensors file.",
                  file, length, most));
}

}  // namespace

Result<SafetensorsProgress> parse_safetensors(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes,
                                              std::uint32_t file_index) {
  const std::uint64_t first = std::min(n_file_bytes, k_sniff_bytes);
  if (prefix.size() < first) return NeedBytes{.n_bytes = first};
  auto length = read_json_length(prefix, file, n_file_bytes);
  if (!length) return forward(length);
  const DataArea area = {.file = file,
                         .first_byte = k_length_bytes + *length,
                         .n_bytes = n_file_bytes - k_length_bytes - *length,
                         .file_index = file_index};
  if (prefix.size() < area.first_byte) return NeedBytes{.n_bytes = area.first_byte};
  const Bytes json = prefix.subspan(k_length_bytes, static_cast<std::size_t>(*length));
  auto header = parse_json_unique({reinterpret_cast<const char*>(json.data()), json.size()},
                                  fmt::format("The header of {}", file));
  if (!header) return forward(header);
  if (!header->is_object()) {
    return fail(ErrorCode::corrupt_file,
                fmt::format("The header of {} is a JSON {}, expected an object.", file, header->type_name()));
  }
  std::vector<RawTensor> tensors;
  for (const auto& [name, entry] : header->items()) {
    if (name == "__metadata__") continue;
    auto tensor = read_entry(name, entry, area);
    if (!tensor) return forward(tensor);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Result<SafetensorsIndex> parse_safetensors_index(std::string_view text, std::string_view file) {
  auto root = parse_json_unique(text, file);
  if (!root) return forward(root);
  auto map = get_object(*root, "weight_map", file);
  if (!map) return forward(map);
  std::map<std::string, std::uint32_t> files;
  for (const auto& [name, value] : (*map)->items()) {
    if (!value.is_string() || !is_shard_name(value.get_ref<const std::string&>())) {
      return fail(ErrorCode::corrupt_file,
                  fmt::format("{} maps tensor {} to {}, expected a plain file name.", file, in_quotes(name),
                              value.is_string() ? in_quotes(value.get_ref<const std::string&>())
                                                : std::string("a ") + value.type_name()));
    }
    files.emplace(value.get<std::string>(), 0);
  }
  if (files.empty()) return fail(ErrorCode::corrupt_file, fmt::format("{} lists no tensor.", file));
  SafetensorsIndex index;
  for (auto& [name, number] : files) {
    number = static_cast<std::uint32_t>(index.files.size());
    index.files.push_back(name);
  }
  for (const auto& [name, value] : (*map)->items()) {
    index.weight_map.emplace(name, files.at(value.get_ref<const std::string&>()));
  }
  return index;
}

Result<void> check_safetensors_index(const SafetensorsIndex& index, std::span<const RawTensor> tensors,
                                     std::string_view index_file) {
  const RawTable table(tensors);
  for (const auto& [name, number] : index.weight_map) {
    const RawTensor* found = table.find(name);
    if (found != nullptr && found->file == number) continue;
    return fail(ErrorCode::corrupt_file,
                fmt::format("{} says that tensor {} is in {}, but {}.", index_file, in_quotes(name),
                            index.files[number],
                            found == nullptr ? "it is not there" : "it is in " + index.files[found->file]));
  }
  return {};
}

}  // namespace ztvm::load
