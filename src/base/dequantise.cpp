#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/quant_layout.hpp"
#include "base/quant_levels.hpp"

namespace ztvm {
namespace {

// value = d * q + m.
struct Scale {
  float d = 0.0f;
  float m = 0.0f;
};

Scale load_halves(Bytes scales, std::size_t offset) {
  return {.d = half_to_float(load_as<std::uint16_t>(scales, offset)),
          .m = half_to_float(load_as<std::uint16_t>(scales, offset + 2))};
}

// Of a group of q4_k or q5_k.
Scale load_super_block_scale(Bytes scales, std::size_t group) {
  const std::size_t block = group / k_groups_per_super_block * k_super_block_scale_bytes;
  const std::size_t pair = block + 4 + group % k_groups_per_super_block * 2;
  const Scale unit = load_halves(scales, block);
  return {.d = unit.d * static_cast<float>(load_as<std::uint8_t>(scales, pair)),
          .m = -(unit.m * static_cast<float>(load_as<std::uint8_t>(scales, pair + 1)))};
}

void scale_levels(const GroupLevels& levels, Scale scale, float* out) {
  for (std::size_t i = 0; i < levels.size(); ++i) out[i] = scale.d * static_cast<float>(levels[i]) + scale.m;
}

void scale_levels_q6_k(const GroupLevels& levels, Bytes scales, std::size_t group, float* out) {
  const std::size_t block = group / k_groups_per_super_block * k_super_block_scale_bytes;
  const std::size_t pair = block + 4 + group % k_groups_per_super_block * 2;
  const float d = load_as<float>(scales, block);
  for (std::size_t half = 0; half < 2; ++half) {
    const auto sub_scale = static_cast<float>(load_as<std::int8_t>(scales, pair + half));
    for (std::size_t i = half * 16; i < half * 16 + 16; ++i) {
      out[i] = d * (sub_scale * static_cast<float>(int{levels[i]} - 32));
    }
  }
}

// Scales are decoded once a group: the reference executor runs whole models through here.
void dequantise_groups(QuantLayout layout, Bytes words, Bytes scales, std::span<float> out) {
  const std::size_t group_bytes = k_quant_group / 8 * layout.word_bits();
  GroupLevels levels{};
  for (std::size_t group = 0; group < out.size() / k_quant_group; ++group) {
    unpack_levels(layout.kind, words.subspan(group * group_bytes, group_bytes), levels);
    float* values = out.data() + group * k_quant_group;
    if (layout.kind == QuantKind::q6_k) {
      scale_levels_q6_k(levels, scales, group, values);
    } else {
      const Scale scale =
          layout.has_super_blocks() ? load_super_block_scale(scales, group) : load_halves(scales, group * 4);
      scale_levels(levels, scale, values);
    }
  }
}

}  // namespace

void dequantise_row(QuantKind kind, Bytes words, Bytes scales, std::span<float> out) {
  const QuantLayout layout = {.kind = kind, .dim = narrow<std::uint32_t>(out.size())};
  check(words.size() == layout.words_bytes_per_row(), "a row's words have the length of its layout");
  check(scales.size() == layout.scales_bytes_per_row(), "a row's scales have the length of its layout");
  switch (kind) {
    case QuantKind::f32: std::memcpy(out.data(), words.data(), words.size()); return;
    case QuantKind::f16:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = half_to_float(load_as<std::uint16_t>(words, i * 2));
      return;
    case QuantKind::bf16:
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = bfloat_to_float(load_as<std::uint16_t>(words, i * 2));
      return;
    default:
      check(layout.dim % layout.dim_multiple() == 0, "dim is a multiple of the group or super-block");
      dequantise_groups(layout, words, scales, out);
  }
}

}  // namespace ztvm
