#pragma once
// Numbers as signed bytes in groups of 32 that share a scale: value = level * scale, scale = largest magnitude / 127.
// A group has 36 bytes: its levels, then the scale as f32. wgsl/kv_int8.wgsl and wgsl/kv_int8_write.wgsl are the twins.
// A group whose largest magnitude is below 1e-30 is zeros; one with an element that is infinite or NaN is that as a
// whole, so that it is not lost.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"

namespace ztvm {

inline constexpr std::size_t k_int8_group = 32;
inline constexpr std::size_t k_int8_group_bytes = k_int8_group + sizeof(float);

int int8_level(Bytes bytes, std::size_t element);
float int8_scale(Bytes bytes, std::size_t group);
inline float int8_value(Bytes bytes, std::size_t element) {
  return static_cast<float>(int8_level(bytes, element)) * int8_scale(bytes, element / k_int8_group);
}

// Rounds at most 32 values, ties to even; elements beyond them keep their level.
void store_int8_group(MutableBytes bytes, std::size_t group, std::span<const float> values);

}  // namespace ztvm
