#pragma once
// The key-value part of a GGUF header: checked once, kept as the file's own bytes, decoded when asked for.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "load/gguf_cursor.hpp"

namespace ztvm::load {

// Value types with the numbers that the file uses.
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

class GgufMetadata {
 public:
  struct Entry {
    std::string key;
    GgufType type = GgufType::u8;
    std::size_t offset = 0;  // of the value, in the kept bytes
  };

  GgufMetadata() = default;
  // Reads `n_entries` entries at the cursor's position in `prefix`; the cursor keeps the error when one is
  // broken: a length beyond the file, an unknown type, arrays nested too deep, a key that is empty, too long
  // or not unique.
  static GgufMetadata read(GgufCursor& cursor, Bytes prefix, std::uint64_t n_entries);

  // The value of `key`, of the wanted type: any integer type that holds a fitting value, either float type.
  // Errors name file and key: not_found, or corrupt_file for another type.
  Result<std::uint64_t> get_uint(std::string_view key) const;
  Result<double> get_float(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string> get_string(std::string_view key) const;
  Result<std::vector<std::string>> get_strings(std::string_view key) const;
  Result<std::vector<std::int64_t>> get_ints(std::string_view key) const;

  // The same for keys that may be absent.
  Result<std::optional<std::uint64_t>> find_uint(std::string_view key) const;
  Result<std::optional<double>> find_float(std::string_view key) const;
  Result<std::optional<bool>> find_bool(std::string_view key) const;
  Result<std::optional<std::string>> find_string(std::string_view key) const;
  Result<std::optional<std::vector<std::string>>> find_strings(std::string_view key) const;
  Result<std::optional<std::vector<std::int64_t>>> find_ints(std::string_view key) const;
  Result<std::optional<std::vector<float>>> find_floats(std::string_view key) const;

  // Elements of the array `key`; nothing when there is none.
  std::optional<std::uint64_t> array_length(std::string_view key) const;

  std::string_view file() const { return file_; }
  std::span<const Entry> entries() const { return entries_; }  // sorted by key
  // One line for people: "30", "\"llama\"", "string[49152]". Long text is cut.
  std::string value_text(const Entry& entry) const;

 private:
  struct Array {
    GgufType type = GgufType::u8;
    std::uint64_t count = 0;
    std::size_t offset = 0;  // of the first element
  };
  const Entry* find(std::string_view key) const;
  Array array_at(std::size_t offset) const;
  std::string_view string_at(std::size_t offset) const;
  std::unexpected<Error> wrong_type(const Entry& entry, std::string_view expected) const;

  std::string file_;
  std::vector<std::byte> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace ztvm::load
