#include "gpu/op.hpp"

#include <cmath>
#include <cstring>

#include "base/half.hpp"

namespace ztvm::gpu {

std::uint64_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
    case Dtype::u32: return 4;
    case Dtype::f16: return 2;
    case Dtype::i8: return 1;
  }
  return 4;
}

float HostView::load(std::size_t i) const {
  switch (dtype) {
    case Dtype::f32: return load_as<float>(bytes, i * 4);
    case Dtype::f16: return half_to_float(load_as<std::uint16_t>(bytes, i * 2));
    case Dtype::u32: return static_cast<float>(load_as<std::uint32_t>(bytes, i * 4));
    case Dtype::i8: return static_cast<float>(load_as<std::int8_t>(bytes, i));
  }
  return 0.0f;
}

void HostView::store(std::size_t i, float value) const {
  check((i + 1) * dtype_bytes(dtype) <= bytes.size(), "an oracle stores inside its tensor");
  std::byte* at = bytes.data() + i * dtype_bytes(dtype);
  switch (dtype) {
    case Dtype::f32: std::memcpy(at, &value, 4); break;
    case Dtype::f16: {
      const std::uint16_t half = float_to_half(value);
      std::memcpy(at, &half, 2);
      break;
    }
    case Dtype::i8: *at = static_cast<std::byte>(static_cast<std::int8_t>(value)); break;
    case Dtype::u32: check(false, "u32 tensors are written with set_word()"); break;
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
  constexpr std::uint32_t k_max_axis = 65535;
  if (n_workgroups <= k_max_axis) return Grid{.x = n_workgroups};
  const std::uint32_t y = div_up(n_workgroups, k_max_axis);
  return Grid{.x = div_up(n_workgroups, y), .y = y};
}

}  // namespace ztvm::gpu
