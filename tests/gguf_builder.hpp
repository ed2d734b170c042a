#pragma once
// Writes GGUF files for tests, right or deliberately wrong.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace ztvm::test {

class GgufBuilder {
 public:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dims;  // innermost first, as in the file
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
  };

  std::uint32_t magic = 0x46554747;
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  // of the data; to announce another than 32, add "general.alignment" too

  // One metadata entry with the raw bytes of its value.
  GgufBuilder& entry(std::string_view key, std::uint32_t type, std::string_view value) {
    put_string(entries_, key);
    put(entries_, type);
    entries_ += value;
    ++n_entries;
    return *this;
  }
  template <typename T>
  GgufBuilder& scalar(std::string_view key, std::uint32_t type, T value) {
    return entry(key, type, raw(value));
  }
  GgufBuilder& text(std::string_view key, std::string_view value) { return entry(key, 8, raw_string(value)); }
  GgufBuilder& strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes = raw<std::uint32_t>(8) + raw<std::uint64_t>(values.size());
    for (const std::string& value : values) bytes += raw_string(value);
    return entry(key, 9, bytes);
  }
  GgufBuilder& ints(std::string_view key, const std::vector<std::int32_t>& values) {
    std::string bytes = raw<std::uint32_t>(5) + raw<std::uint64_t>(values.size());
    for (const std::int32_t value : values) bytes += raw(value);
    return entry(key, 9, bytes);
  }
  GgufBuilder& floats(std::string_view key, const std::vector<float>& values) {
    std::string bytes = raw<std::uint32_t>(6) + raw<std::uint64_t>(values.size());
    for (const float value : values) bytes += raw(value);
    return entry(key, 9, bytes);
  }

  // A tensor with explicit offset, or behind the last one.
  GgufBuilder& tensor(Tensor tensor) {
    tensors_.push_back(std::move(tensor));
    return *this;
  }

  std::uint64_t n_entries = 0;       // as announced; change it to lie
  std::uint64_t extra_tensors = 0;   // announced beyond those that are there
  std::uint64_t n_data_bytes = 256;  // zeros behind the header

  std::string header() const {
    std::string bytes =
        raw(magic) + raw(version) + raw<std::uint64_t>(tensors_.size() + extra_tensors) + raw(n_entries);
    bytes += entries_;
    for (const Tensor& tensor : tensors_) {
      put_string(bytes, tensor.name);
      put(bytes, static_cast<std::uint32_t>(tensor.dims.size()));
      for (const std::uint64_t dim : tensor.dims) put(bytes, dim);
      put(bytes, tensor.type);
      put(bytes, tensor.offset);
    }
    return bytes;
  }
  std::string file() const {
    std::string bytes = header();
    bytes.resize(round_up<std::uint64_t>(bytes.size(), alignment) + n_data_bytes);
    return bytes;
  }

  template <typename T>
  static std::string raw(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
  static std::string raw_string(std::string_view value) {
    return raw<std::uint64_t>(value.size()) + std::string(value);
  }

 private:
  template <typename T>
  static void put(std::string& bytes, T value) {
    bytes += raw(value);
  }
  static void put_string(std::string& bytes, std::string_view value) { bytes += raw_string(value); }

  std::string entries_;
  std::vector<Tensor> tensors_;
};

}  // namespace ztvm::test
