// The border: after GgufMetadata::read() every length and type in the kept bytes is known to be right.
#include <fmt/format.h>

#include <algorithm>

#include "base/in_quotes.hpp"
#include "load/gguf_metadata.hpp"

namespace ztvm::load {
namespace {

constexpr std::uint64_t k_max_entries = 65536;  // real files have less than 100
constexpr std::uint64_t k_max_key_bytes = 65535;
constexpr std::uint64_t k_max_array_elements =
    1ull << 22;  // the largest vocabularies have 2^18 tokens, 2^19 merges
constexpr int k_max_array_depth = 4;

// Bytes of a value of fixed length; 0 for strings and arrays.
std::uint64_t fixed_bytes(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    case GgufType::string:
    case GgufType::array: return 0;
  }
  return 0;
}

GgufType read_type(GgufCursor& cursor) {
  const auto id = cursor.read<std::uint32_t>();
  if (id <= static_cast<std::uint32_t>(GgufType::f64)) return static_cast<GgufType>(id);
  cursor.fail(ErrorCode::corrupt_file, fmt::format("{} has the value type {} in {}, expected 0 to 12.",
                                                   cursor.file(), id, cursor.context()));
  return GgufType::u8;
}

void skip_value(GgufCursor& cursor, GgufType type, int depth);

void skip_array(GgufCursor& cursor, int depth) {
  if (depth >= k_max_array_depth) {
    cursor.fail(ErrorCode::corrupt_file, fmt::format("{} nests arrays deeper than {} levels in {}.",
                                                     cursor.file(), k_max_array_depth, cursor.context()));
    return;
  }
  const GgufType type = read_type(cursor);
  const auto count = cursor.read<std::uint64_t>();
  if (count > k_max_array_elements) {
    cursor.fail(ErrorCode::corrupt_file,
                fmt::format("{} announces {} array elements in {}, expected at most {}.", cursor.file(),
                            count, cursor.context(), k_max_array_elements));
  }
  const std::uint64_t element_bytes = fixed_bytes(type);
  if (element_bytes != 0) {
    cursor.check_count(count, element_bytes, "array elements");
    if (cursor.ok()) cursor.take(count * element_bytes);
    return;
  }
  const std::uint64_t min_bytes = type == GgufType::string ? 8 : 12;
  cursor.check_count(count, min_bytes, type == GgufType::string ? "strings" : "arrays");
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) skip_value(cursor, type, depth + 1);
}

void skip_value(GgufCursor& cursor, GgufType type, int depth) {
  switch (type) {
    case GgufType::string: cursor.read_string(); break;
    case GgufType::array: skip_array(cursor, depth); break;
    default: cursor.take(fixed_bytes(type)); break;
  }
}

std::string read_key(GgufCursor& cursor, std::uint64_t index) {
  cursor.enter(fmt::format("the key of metadata entry {}", index));
  const auto n_bytes = cursor.read<std::uint64_t>();
  if (cursor.ok() && (n_bytes == 0 || n_bytes > k_max_key_bytes)) {
    cursor.fail(ErrorCode::corrupt_file,
                fmt::format("{} has a length of {} bytes for {}, expected 1 to {}.", cursor.file(), n_bytes,
                            cursor.context(), k_max_key_bytes));
  }
  const Bytes bytes = cursor.take(n_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

GgufMetadata GgufMetadata::read(GgufCursor& cursor, Bytes prefix, std::uint64_t n_entries) {
  GgufMetadata metadata;
  metadata.file_ = cursor.file();
  cursor.check_count(n_entries, 8 + 1 + 4 + 1, "metadata entries");
  if (n_entries > k_max_entries) {
    cursor.fail(ErrorCode::corrupt_file, fmt::format("{} announces {} metadata entries, expected at most {}.",
                                                     cursor.file(), n_entries, k_max_entries));
  }
  const std::size_t start = static_cast<std::size_t>(cursor.position());
  for (std::uint64_t i = 0; i < n_entries && cursor.ok(); ++i) {
    Entry entry;
    entry.key = read_key(cursor, i);
    cursor.enter(fmt::format("metadata key {}", in_quotes(entry.key)));
    entry.type = read_type(cursor);
    entry.offset = static_cast<std::size_t>(cursor.position()) - start;
    skip_value(cursor, entry.type, 0);
    metadata.entries_.push_back(std::move(entry));
  }
  if (!cursor.ok()) return {};

  const Bytes all = prefix.subspan(start, static_cast<std::size_t>(cursor.position()) - start);
  metadata.bytes_.assign(all.begin(), all.end());
  std::ranges::sort(metadata.entries_, {}, &Entry::key);
  const auto twice = std::ranges::adjacent_find(metadata.entries_, {}, &Entry::key);
  if (twice != metadata.entries_.end()) {
    cursor.fail(ErrorCode::corrupt_file,
                fmt::format("{} has the metadata key {} twice.", cursor.file(), in_quotes(twice->key)));
  }
  return metadata;
}

}  // namespace ztvm::load
