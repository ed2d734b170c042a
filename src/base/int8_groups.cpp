#include "base/int8_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace ztvm {
namespace {

// The largest magnitude; infinity and NaN are above all others, as their bits are.
float largest_magnitude(std::span<const float> values) {
  float top = 0.0f;
  for (const float value : values) {
    const float magnitude = std::fabs(value);
    if (std::isnan(magnitude)) return magnitude;
    top = std::max(top, magnitude);
  }
  return top;
}

float scale_of(float top) {
  if (!std::isfinite(top)) return top;
  return top < 1e-30f ? 0.0f : top * (1.0f / 127.0f);
}

}  // namespace

int int8_level(Bytes bytes, std::size_t element) {
  return load_as<std::int8_t>(bytes, element / k_int8_group * k_int8_group_bytes + element % k_int8_group);
}

float int8_scale(Bytes bytes, std::size_t group) {
  return load_as<float>(bytes, group * k_int8_group_bytes + k_int8_group);
}

void store_int8_group(MutableBytes bytes, std::size_t group, std::span<const float> values) {
  check(values.size() <= k_int8_group, "a group has 32 elements");
  check((group + 1) * k_int8_group_bytes <= bytes.size(), "a group is stored inside its tensor");
  const float scale = scale_of(largest_magnitude(values));
  std::array<std::int8_t, k_int8_group> levels{};
  if (!std::isfinite(scale)) levels.fill(1);
  for (std::size_t i = 0; i < values.size() && std::isfinite(scale) && scale > 0.0f; ++i) {
    const double level = std::nearbyint(double{values[i]} / double{scale});
    levels[i] = static_cast<std::int8_t>(std::clamp(level, -127.0, 127.0));
  }
  std::byte* at = bytes.data() + group * k_int8_group_bytes;
  std::memcpy(at, levels.data(), values.size());
  std::memcpy(at + k_int8_group, &scale, sizeof(scale));
}

}  // namespace ztvm
