#include "base/quant_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.hpp"

namespace ztvm {
namespace {

// d and m of one scales word.
struct Scale {
  float d = 0.0f;
  float m = 0.0f;
};

Scale load_scale(Bytes scales, std::size_t group) {
  const auto word = load_as<std::uint32_t>(scales, group * 4);
  return {.d = half_to_float(static_cast<std::uint16_t>(word)),
          .m = half_to_float(static_cast<std::uint16_t>(word >> 16))};
}

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

float clamped_level(float value, Scale scale, float lowest, float highest) {
  if (scale.d == 0.0f) return 0.0f;
  return std::clamp(std::nearbyint((value - scale.m) / scale.d), lowest, highest);
}

void append_scale(std::vector<std::byte>& scales, Scale scale) {
  append(scales, float_to_half(scale.d));
  append(scales, float_to_half(scale.m));
}

// Scales are decoded once a group: the reference executor runs whole models through here.
void dequantise_q8(Bytes words, Bytes scales, std::span<float> out) {
  for (std::size_t group = 0; group < out.size() / k_quant_group; ++group) {
    const Scale scale = load_scale(scales, group);
    const std::byte* quants = words.data() + group * k_quant_group;
    float* values = out.data() + group * k_quant_group;
    for (std::size_t i = 0; i < k_quant_group; ++i) {
      values[i] = scale.d * static_cast<float>(static_cast<std::int8_t>(quants[i])) + scale.m;
    }
  }
}

void dequantise_q4(Bytes words, Bytes scales, std::span<float> out) {
  constexpr std::size_t k_half = k_quant_group / 2;
  for (std::size_t group = 0; group < out.size() / k_quant_group; ++group) {
    const Scale scale = load_scale(scales, group);
    const std::byte* pairs = words.data() + group * k_half;
    float* values = out.data() + group * k_quant_group;
    for (std::size_t i = 0; i < k_half; ++i) {
      const auto pair = static_cast<std::uint8_t>(pairs[i]);
      values[i] = scale.d * static_cast<float>(pair & 15u) + scale.m;
      values[k_half + i] = scale.d * static_cast<float>(pair >> 4) + scale.m;
    }
  }
}

void quantise_group_q4(std::span<const float> group, QuantisedRows& out) {
  const auto [min, max] = std::ranges::minmax(group);
  const Scale scale = {.d = round_to_half((max - min) / 15.0f), .m = round_to_half(min)};
  constexpr std::size_t k_half = k_quant_group / 2;
  for (std::size_t i = 0; i < k_half; ++i) {
    const auto low = static_cast<std::uint8_t>(clamped_level(group[i], scale, 0.0f, 15.0f));
    const auto high = static_cast<std::uint8_t>(clamped_level(group[k_half + i], scale, 0.0f, 15.0f));
    append(out.words, static_cast<std::uint8_t>(low | (high << 4)));
  }
  append_scale(out.scales, scale);
}

void quantise_group_q8(std::span<const float> group, QuantisedRows& out) {
  float largest = 0.0f;
  for (const float value : group) largest = std::max(largest, std::fabs(value));
  const Scale scale = {.d = round_to_half(largest / 127.0f), .m = 0.0f};
  for (const float value : group) {
    append(out.words, static_cast<std::int8_t>(clamped_level(value, scale, -127.0f, 127.0f)));
  }
  append_scale(out.scales, scale);
}

}  // namespace

std::string_view to_string(QuantKind kind) {
  switch (kind) {
    case QuantKind::f32: return "f32";
    case QuantKind::f16: return "f16";
    case QuantKind::q8: return "q8";
    case QuantKind::q4: return "q4";
  }
  return "unknown";
}

void dequantise_row(QuantKind kind, Bytes words, Bytes scales, std::span<float> out) {
  const QuantLayout layout = {.kind = kind, .dim = narrow<std::uint32_t>(out.size())};
  check(words.size() == layout.words_bytes_per_row(), "a row's words have the length of its layout");
  check(scales.size() == layout.scales_bytes_per_row(), "a row's scales have the length of its layout");
  check(!layout.has_scales() || out.size() % k_quant_group == 0, "dim is a multiple of the group");
  switch (kind) {
    case QuantKind::f32: std::memcpy(out.data(), words.data(), words.size()); break;
    case QuantKind::f16:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = half_to_float(load_as<std::uint16_t>(words, i * 2));
      break;
    case QuantKind::q8: dequantise_q8(words, scales, out); break;
    case QuantKind::q4: dequantise_q4(words, scales, out); break;
  }
}

QuantisedRows quantise_rows(QuantKind kind, std::span<const float> values, std::uint32_t dim) {
  check(dim > 0 && dim % k_quant_group == 0 && values.size() % dim == 0, "whole rows of whole groups");
  QuantisedRows out;
  for (std::size_t first = 0; first < values.size(); first += k_quant_group) {
    const auto group = values.subspan(first, k_quant_group);
    switch (kind) {
      case QuantKind::f32:
        for (const float value : group) append(out.words, value);
        break;
      case QuantKind::f16:
        for (const float value : group) append(out.words, float_to_half(value));
        break;
      case QuantKind::q8: quantise_group_q8(group, out); break;
      case QuantKind::q4: quantise_group_q4(group, out); break;
    }
  }
  return out;
}

}  // namespace ztvm
