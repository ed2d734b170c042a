#pragma once
// Short cuts for the scales of a whole model: what float_to_half() gives, without the way by float for usual numbers.
#include <cstdint>

#include "base/bfloat.hpp"
#include "base/half.hpp"

namespace ztvm::load {

// float_to_half(bfloat_to_float(bits)).
constexpr std::uint16_t bfloat_to_half(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7FFFu;
  // Normal in both: another bias of the exponent, and all seven bits of the mantissa fit.
  if (magnitude >= 0x3880u && magnitude < 0x4780u) {
    return static_cast<std::uint16_t>((bits & 0x8000u) | ((magnitude - 0x3800u) << 3));
  }
  return float_to_half(bfloat_to_float(bits));
}

// float_to_half(8 * half_to_float(half)): exact within the range, else infinite.
constexpr std::uint16_t eight_times(std::uint16_t half) {
  const std::uint32_t exponent = (half >> 10) & 0x1Fu;
  if (exponent == 0 || exponent + 3 >= 0x1Fu) return float_to_half(8.0f * half_to_float(half));
  return static_cast<std::uint16_t>(half + (3u << 10));
}

}  // namespace ztvm::load
