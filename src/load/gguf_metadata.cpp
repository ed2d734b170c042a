#include "load/gguf_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

std::string_view type_name(GgufType type) {
  static constexpr std::array<std::string_view, 13> k_names = {
      "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
  return k_names[static_cast<std::size_t>(type)];
}

// Calls `use` with the integer at `offset`; nothing when the type is no integer.
template <typename To, typename Use>
std::optional<To> use_integer(GgufType type, Bytes bytes, std::size_t offset, Use use) {
  switch (type) {
    case GgufType::u8: return use(load_as<std::uint8_t>(bytes, offset));
    case GgufType::i8: return use(load_as<std::int8_t>(bytes, offset));
    case GgufType::u16: return use(load_as<std::uint16_t>(bytes, offset));
    case GgufType::i16: return use(load_as<std::int16_t>(bytes, offset));
    case GgufType::u32: return use(load_as<std::uint32_t>(bytes, offset));
    case GgufType::i32: return use(load_as<std::int32_t>(bytes, offset));
    case GgufType::u64: return use(load_as<std::uint64_t>(bytes, offset));
    case GgufType::i64: return use(load_as<std::int64_t>(bytes, offset));
    default: return std::nullopt;
  }
}

// The integer at `offset`, when it is one and fits.
template <typename To>
std::optional<To> integer_as(GgufType type, Bytes bytes, std::size_t offset) {
  return use_integer<To>(type, bytes, offset, [](auto value) -> std::optional<To> {
    if (!std::in_range<To>(value)) return std::nullopt;
    return static_cast<To>(value);
  });
}

std::size_t integer_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32: return 4;
    default: return 8;
  }
}

template <typename T>
Result<T> required(Result<std::optional<T>> found, std::string_view key, std::string_view file) {
  if (!found) return forward(found);
  if (!*found)
    return fail(ErrorCode::not_found, fmt::format("{} has no metadata key {}.", file, in_quotes(key)));
  return std::move(**found);
}

}  // namespace

const GgufMetadata::Entry* GgufMetadata::find(std::string_view key) const {
  const auto at = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  return at == entries_.end() || at->key != key ? nullptr : &*at;
}

std::optional<std::uint64_t> GgufMetadata::array_length(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr || entry->type != GgufType::array) return std::nullopt;
  return array_at(entry->offset).count;
}

GgufMetadata::Array GgufMetadata::array_at(std::size_t offset) const {
  return {.type = static_cast<GgufType>(load_as<std::uint32_t>(bytes_, offset)),
          .count = load_as<std::uint64_t>(bytes_, offset + 4),
          .offset = offset + 12};
}

std::string_view GgufMetadata::string_at(std::size_t offset) const {
  const auto n_bytes = static_cast<std::size_t>(load_as<std::uint64_t>(bytes_, offset));
  const Bytes text = Bytes(bytes_).subspan(offset + 8, n_bytes);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::unexpected<Error> GgufMetadata::wrong_type(const Entry& entry, std::string_view expected) const {
  return fail(ErrorCode::corrupt_file,
              fmt::format("Metadata key {} in {} has the value {} ({}), expected {}.", in_quotes(entry.key),
                          file_, value_text(entry), type_name(entry.type), expected));
}

Result<std::optional<std::uint64_t>> GgufMetadata::find_uint(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const auto value = integer_as<std::uint64_t>(entry->type, bytes_, entry->offset);
  if (!value) return wrong_type(*entry, "an integer that is not negative");
  return value;
}

Result<std::optional<double>> GgufMetadata::find_float(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type == GgufType::f32) return load_as<float>(bytes_, entry->offset);
  if (entry->type == GgufType::f64) return load_as<double>(bytes_, entry->offset);
  return wrong_type(*entry, "a float");
}

Result<std::optional<bool>> GgufMetadata::find_bool(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type != GgufType::boolean) return wrong_type(*entry, "a bool");
  return load_as<std::uint8_t>(bytes_, entry->offset) != 0;
}

Result<std::optional<std::string>> GgufMetadata::find_string(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type != GgufType::string) return wrong_type(*entry, "a string");
  return std::string(string_at(entry->offset));
}

Result<std::optional<std::vector<std::string>>> GgufMetadata::find_strings(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const Array array = entry->type == GgufType::array ? array_at(entry->offset) : Array{};
  if (array.type != GgufType::string) return wrong_type(*entry, "an array of strings");
  std::vector<std::string> strings;
  strings.reserve(static_cast<std::size_t>(array.count));
  std::size_t offset = array.offset;
  for (std::uint64_t i = 0; i < array.count; ++i) {
    strings.emplace_back(string_at(offset));
    offset += 8 + strings.back().size();
  }
  return strings;
}

Result<std::optional<std::vector<float>>> GgufMetadata::find_floats(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const Array array = entry->type == GgufType::array ? array_at(entry->offset) : Array{};
  if (array.type != GgufType::f32 && array.type != GgufType::f64) {
    return wrong_type(*entry, "an array of floats");
  }
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(array.count));
  for (std::size_t i = 0; i < array.count; ++i) {
    values.push_back(array.type == GgufType::f32
                         ? load_as<float>(bytes_, array.offset + 4 * i)
                         : static_cast<float>(load_as<double>(bytes_, array.offset + 8 * i)));
  }
  return values;
}

Result<std::optional<std::vector<std::int64_t>>> GgufMetadata::find_ints(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->type != GgufType::array) return wrong_type(*entry, "an array of integers");
  const Array array = array_at(entry->offset);
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(array.count));
  for (std::size_t i = 0; i < array.count; ++i) {
    const auto value =
        integer_as<std::int64_t>(array.type, bytes_, array.offset + i * integer_bytes(array.type));
    if (!value) return wrong_type(*entry, "an array of integers of 63 bits or less");
    values.push_back(*value);
  }
  return values;
}

Result<std::uint64_t> GgufMetadata::get_uint(std::string_view key) const {
  return required(find_uint(key), key, file_);
}
Result<double> GgufMetadata::get_float(std::string_view key) const {
  return required(find_float(key), key, file_);
}
Result<bool> GgufMetadata::get_bool(std::string_view key) const {
  return required(find_bool(key), key, file_);
}
Result<std::string> GgufMetadata::get_string(std::string_view key) const {
  return required(find_string(key), key, file_);
}
Result<std::vector<std::string>> GgufMetadata::get_strings(std::string_view key) const {
  return required(find_strings(key), key, file_);
}
Result<std::vector<std::int64_t>> GgufMetadata::get_ints(std::string_view key) const {
  return required(find_ints(key), key, file_);
}

std::string GgufMetadata::value_text(const Entry& entry) const {
  switch (entry.type) {
    case GgufType::string: return in_quotes(string_at(entry.offset));
    case GgufType::f32: return fmt::format("{}", load_as<float>(bytes_, entry.offset));
    case GgufType::f64: return fmt::format("{}", load_as<double>(bytes_, entry.offset));
    case GgufType::boolean: return load_as<std::uint8_t>(bytes_, entry.offset) != 0 ? "true" : "false";
    case GgufType::array: {
      const Array array = array_at(entry.offset);
      return fmt::format("{}[{}]", type_name(array.type), array.count);
    }
    default:
      return use_integer<std::string>(entry.type, bytes_, entry.offset,
                                      [](auto value) { return fmt::format("{}", value); })
          .value_or("");
  }
}

}  // namespace ztvm::load
