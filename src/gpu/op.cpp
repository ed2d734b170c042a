#include "gpu/op.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "base/int8_groups.hpp"

namespace ztvm::gpu {

std::uint64_t dtype_bytes(Dtype dtype, std::uint64_t n_elements) {
  switch (dtype) {
    case Dtype::f32:
    case Dtype::u32: break;
    case Dtype::f16: return 2 * n_elements;
    case Dtype::i8_groups: return div_up<std::uint64_t>(n_elements, k_int8_group) * k_int8_group_bytes;
  }
  return 4 * n_elements;
}

std::size_t HostView::n_elements() const {
  if (dtype == Dtype::i8_groups) return bytes.size() / k_int8_group_bytes * k_int8_group;
  return bytes.size() / dtype_bytes(dtype, 1);
}

float HostView::load(std::size_t i) const {
  switch (dtype) {
    case Dtype::f32: return load_as<float>(bytes, i * 4);
    case Dtype::f16: return half_to_float(load_as<std::uint16_t>(bytes, i * 2));
    case Dtype::u32: return static_cast<float>(load_as<std::uint32_t>(bytes, i * 4));
    case Dtype::i8_groups: return int8_value(bytes, i);
  }
  return 0.0f;
}

void HostView::store(std::size_t i, float value) const {
  check((i + 1) * dtype_bytes(dtype, 1) <= bytes.size(), "an oracle stores inside its tensor");
  std::byte* at = bytes.data() + i * dtype_bytes(dtype, 1);
  switch (dtype) {
    case Dtype::f32: std::memcpy(at, &value, 4); break;
    case Dtype::f16: {
      const std::uint16_t half = float_to_half(value);
      std::memcpy(at, &half, 2);
      break;
    }
    case Dtype::i8_groups: check(false, "groups are written with store_all()"); break;
    case Dtype::u32: check(false, "u32 tensors are written with set_word()"); break;
  }
}

void HostView::store_all(std::size_t first, std::span<const float> values) const {
  if (dtype != Dtype::i8_groups) {
    for (std::size_t i = 0; i < values.size(); ++i) store(first + i, values[i]);
    return;
  }
  check(first % k_int8_group == 0, "groups are written as a whole");
  for (std::size_t i = 0; i < values.size(); i += k_int8_group) {
    const auto group = values.subspan(i, std::min(k_int8_group, values.size() - i));
    store_int8_group(bytes, (first + i) / k_int8_group, group);
  }
}

void HostView::set_word(std::size_t i, std::uint32_t value) const {
  check((i + 1) * 4 <= bytes.size(), "an oracle stores inside its tensor");
  std::memcpy(bytes.data() + i * 4, &value, 4);
}

float sum_tolerance(std::size_t n_terms, Dtype dtype) {
  // Rounding errors of a sum grow like sqrt(n) for random signs; 8 covers cancellation in the cases.
  const float sum = 8.0f * std::sqrt(static_cast<float>(n_terms)) * 0x1p-24f;
  return dtype == Dtype::f16 ? sum + 0x1p-10f : sum + 0x1p-22f;
}

Grid linear_grid(std::uint32_t n_workgroups) {
  if (n_workgroups <= k_max_axis) return Grid{.x = n_workgroups};
  const std::uint32_t y = div_up(n_workgroups, k_max_axis);
  return Grid{.x = div_up(n_workgroups, y), .y = y};
}

}  // namespace ztvm::gpu
