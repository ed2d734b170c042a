#pragma once
// Byte spans, integer narrowing and checked arithmetic.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "base/error.hpp"

namespace ztvm {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// Converts between integer types and traps when the value does not fit: for values checked before.
template <typename To, typename From>
constexpr To narrow(From value) {
  const To result = static_cast<To>(value);
  check(static_cast<From>(result) == value && ((result < To{}) == (value < From{})),
        "narrow() loses a value");
  return result;
}

// a * b and a + b in 64 bits, or nothing on overflow: for lengths that come from files.
inline std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <typename T>
constexpr T div_up(T a, T b) {
  return (a + b - 1) / b;
}
template <typename T>
constexpr T round_up(T value, T multiple) {
  return div_up(value, multiple) * multiple;
}

// The value of type T at byte `offset`, which need not be aligned; the caller has checked the length.
template <typename T>
T load_as(Bytes bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  check(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset, "load_as() outside its span");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
Bytes as_bytes(const T& container) {
  return std::as_bytes(std::span(container));
}

// "98.4 MB": decimal units, for people.
std::string format_bytes(std::uint64_t n_bytes);

}  // namespace ztvm
