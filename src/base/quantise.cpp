#include <algorithm>
#include <cmath>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/quant_layout.hpp"
#include "base/quant_levels.hpp"

namespace ztvm {
namespace {

constexpr std::size_t k_sub_block = 16;  // weights that share a sub-scale of q6_k

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

// The integer nearest to value / step within bounds.
float nearest(float value, float step, float lowest, float highest) {
  if (step == 0.0f) return std::clamp(0.0f, lowest, highest);
  return std::clamp(std::nearbyint(value / step), lowest, highest);
}

void append_levels(QuantKind kind, const GroupLevels& levels, QuantisedRows& out) {
  const std::size_t n_bytes = k_quant_group / 8 * QuantLayout{.kind = kind}.word_bits();
  out.words.resize(out.words.size() + n_bytes);
  pack_levels(kind, levels, MutableBytes(out.words).last(n_bytes));
}

// Levels of value = d * q + m.
GroupLevels affine_levels(std::span<const float> group, float d, float m, float highest) {
  GroupLevels levels{};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = static_cast<std::uint8_t>(nearest(group[i] - m, d, 0.0f, highest));
  }
  return levels;
}

float highest_level(QuantKind kind) {
  return static_cast<float>((1u << QuantLayout{.kind = kind}.word_bits()) - 1u);
}

void quantise_group(QuantKind kind, std::span<const float> group, QuantisedRows& out) {
  const auto [min, max] = std::ranges::minmax(group);
  const float d = round_to_half((max - min) / highest_level(kind));
  const float m = round_to_half(min);
  append_levels(kind, affine_levels(group, d, m, highest_level(kind)), out);
  append(out.scales, float_to_half(d));
  append(out.scales, float_to_half(m));
}

// q4_k and q5_k: a group spans [-dmin * mn, -dmin * mn + d * sc * highest].
void quantise_affine_super_block(QuantKind kind, std::span<const float> block, QuantisedRows& out) {
  const float highest = highest_level(kind);
  std::array<float, k_groups_per_super_block> steps{};
  std::array<float, k_groups_per_super_block> mins{};
  for (std::size_t g = 0; g < steps.size(); ++g) {
    const auto [min, max] = std::ranges::minmax(block.subspan(g * k_quant_group, k_quant_group));
    mins[g] = std::max(-min, 0.0f);
    steps[g] = (std::max(max, 0.0f) + mins[g]) / highest;
  }
  const float d = round_to_half(std::ranges::max(steps) / 63.0f);
  const float dmin = round_to_half(std::ranges::max(mins) / 63.0f);
  append(out.scales, float_to_half(d));
  append(out.scales, float_to_half(dmin));
  for (std::size_t g = 0; g < steps.size(); ++g) {
    const float scale = nearest(steps[g], d, 0.0f, 63.0f);
    const float min = nearest(mins[g], dmin, 0.0f, 63.0f);
    const auto group = block.subspan(g * k_quant_group, k_quant_group);
    append_levels(kind, affine_levels(group, d * scale, -dmin * min, highest), out);
    append(out.scales, static_cast<std::uint8_t>(scale));
    append(out.scales, static_cast<std::uint8_t>(min));
  }
}

// The sign of a sub-scale is that of the sub-block's largest value, which takes level 0, the one of -32.
void quantise_q6_k_super_block(std::span<const float> block, QuantisedRows& out) {
  std::array<float, k_quant_super_block / k_sub_block> steps{};
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto [min, max] = std::ranges::minmax(block.subspan(s * k_sub_block, k_sub_block));
    steps[s] = (max > -min ? max : min) / -32.0f;
  }
  const auto [lowest, highest] = std::ranges::minmax(steps);
  const float d = round_to_half(std::max(highest, -lowest) / 127.0f);
  append(out.scales, d);
  for (std::size_t s = 0; s < steps.size(); s += 2) {
    GroupLevels levels{};
    for (std::size_t half = 0; half < 2; ++half) {
      const float scale = nearest(steps[s + half], d, -128.0f, 127.0f);
      append(out.scales, static_cast<std::int8_t>(scale));
      for (std::size_t i = 0; i < k_sub_block; ++i) {
        const float value = block[(s + half) * k_sub_block + i];
        levels[half * k_sub_block + i] =
            static_cast<std::uint8_t>(nearest(value, d * scale, -32.0f, 31.0f) + 32.0f);
      }
    }
    append_levels(QuantKind::q6_k, levels, out);
  }
}

}  // namespace

QuantisedRows quantise_rows(QuantKind kind, std::span<const float> values, std::uint32_t dim) {
  const QuantLayout layout = {.kind = kind, .dim = dim};
  const std::uint32_t block = layout.dim_multiple();
  check(dim > 0 && dim % block == 0 && values.size() % dim == 0,
        "whole rows of whole groups or super-blocks");
  QuantisedRows out;
  for (std::size_t first = 0; first < values.size(); first += block) {
    const auto part = values.subspan(first, block);
    switch (kind) {
      case QuantKind::f32:
        for (const float value : part) append(out.words, value);
        break;
      case QuantKind::f16:
        for (const float value : part) append(out.words, float_to_half(value));
        break;
      case QuantKind::bf16:
        for (const float value : part) append(out.words, float_to_bfloat(value));
        break;
      case QuantKind::q8:
      case QuantKind::q4:
      case QuantKind::q3: quantise_group(kind, part, out); break;
      case QuantKind::q4_k:
      case QuantKind::q5_k: quantise_affine_super_block(kind, part, out); break;
      case QuantKind::q6_k: quantise_q6_k_super_block(part, out); break;
    }
  }
  return out;
}

}  // namespace ztvm
