#include "load/convert_blocks.hpp"

#include <array>
#include <cstring>

#include "base/half.hpp"
#include "base/quant_levels.hpp"

namespace ztvm::load {
namespace {

constexpr std::size_t k_groups_per_super_block = k_quant_super_block / k_quant_group;
// Bytes of each block in the file.
constexpr std::size_t k_q4_0_bytes = 18;
constexpr std::size_t k_q4_1_bytes = 20;
constexpr std::size_t k_q5_0_bytes = 22;
constexpr std::size_t k_q5_1_bytes = 24;
constexpr std::size_t k_q8_0_bytes = 34;
constexpr std::size_t k_q4_k_bytes = 144;
constexpr std::size_t k_q5_k_bytes = 176;
constexpr std::size_t k_q6_k_bytes = 210;

std::uint32_t byte_at(Bytes bytes, std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); }

void store_scale(MutableBytes scales, std::size_t group, std::uint16_t d, std::uint16_t m) {
  const std::uint32_t word = d | (static_cast<std::uint32_t>(m) << 16);
  std::memcpy(scales.data() + group * 4, &word, sizeof(word));
}

// Eight scales and mins of six bits in 12 bytes: bytes 0..3 and 4..7 hold scales and mins 0..3 in their low bits and
// the upper two bits of scales and mins 4..7 above them; bytes 8..11 hold the low nibbles of those, scale first.
// Gives scale, min, scale, min, ...
std::array<std::uint8_t, 16> unpack_six_bits(Bytes packed) {
  std::array<std::uint8_t, 16> pairs{};
  for (std::size_t g = 0; g < 4; ++g) {
    const std::uint32_t scale = byte_at(packed, g);
    const std::uint32_t min = byte_at(packed, 4 + g);
    const std::uint32_t nibbles = byte_at(packed, 8 + g);
    pairs[2 * g] = static_cast<std::uint8_t>(scale & 63u);
    pairs[2 * g + 1] = static_cast<std::uint8_t>(min & 63u);
    pairs[2 * g + 8] = static_cast<std::uint8_t>((nibbles & 15u) | (scale >> 6 << 4));
    pairs[2 * g + 9] = static_cast<std::uint8_t>((nibbles >> 4) | (min >> 6 << 4));
  }
  return pairs;
}

// The first 16 bytes of a Q4_K or Q5_K block: f16 d, f16 dmin, and the packed scales and mins.
bool convert_affine_scales(Bytes block, MutableBytes scales) {
  if (!is_finite_half(load_as<std::uint16_t>(block, 0)) || !is_finite_half(load_as<std::uint16_t>(block, 2)))
    return false;
  std::memcpy(scales.data(), block.data(), 4);
  const auto pairs = unpack_six_bits(block.subspan(4, 12));
  std::memcpy(scales.data() + 4, pairs.data(), pairs.size());
  return true;
}

MutableBytes block_scales(MutableBytes scales, std::size_t block) {
  return scales.subspan(block * k_super_block_scale_bytes, k_super_block_scale_bytes);
}

// Groups 2c and 2c+1 are the low and the high nibbles of bytes 32c..32c+31.
std::uint32_t nibble_of(Bytes nibbles, std::size_t group, std::size_t i) {
  return (byte_at(nibbles, group / 2 * k_quant_group + i) >> (group % 2 * 4)) & 15u;
}

// The end of a Q5_0 or Q5_1 block: a word of fifth bits, then the nibbles of elements i and 16 + i. As levels of 8 bits.
void convert_five_bits(Bytes quants, std::byte* levels) {
  const auto fifth_bits = load_as<std::uint32_t>(quants, 0);
  for (std::size_t i = 0; i < k_quant_group; ++i) {
    const std::uint32_t pair = byte_at(quants, 4 + i % 16);
    const std::uint32_t low = i < 16 ? pair & 15u : pair >> 4;
    levels[i] = static_cast<std::byte>(low | ((fifth_bits >> i & 1u) << 4));
  }
}

}  // namespace

bool convert_q4_0(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * k_q4_0_bytes < source.size(); ++group) {
    const Bytes block = source.subspan(group * k_q4_0_bytes, k_q4_0_bytes);
    const auto d = load_as<std::uint16_t>(block, 0);
    const std::uint16_t m = float_to_half(-8.0f * half_to_float(d));
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    std::memcpy(words.data() + group * 16, block.data() + 2, 16);
  }
  return true;
}

bool convert_q4_1(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * k_q4_1_bytes < source.size(); ++group) {
    const Bytes block = source.subspan(group * k_q4_1_bytes, k_q4_1_bytes);
    const auto d = load_as<std::uint16_t>(block, 0);
    const auto m = load_as<std::uint16_t>(block, 2);
    if (!is_finite_half(d) || !is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    std::memcpy(words.data() + group * 16, block.data() + 4, 16);
  }
  return true;
}

bool convert_q5_0(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * k_q5_0_bytes < source.size(); ++group) {
    const Bytes block = source.subspan(group * k_q5_0_bytes, k_q5_0_bytes);
    const auto d = load_as<std::uint16_t>(block, 0);
    const std::uint16_t m = float_to_half(-16.0f * half_to_float(d));
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    convert_five_bits(block.subspan(2), words.data() + group * k_quant_group);
  }
  return true;
}

bool convert_q5_1(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * k_q5_1_bytes < source.size(); ++group) {
    const Bytes block = source.subspan(group * k_q5_1_bytes, k_q5_1_bytes);
    const auto d = load_as<std::uint16_t>(block, 0);
    const auto m = load_as<std::uint16_t>(block, 2);
    if (!is_finite_half(d) || !is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    convert_five_bits(block.subspan(4), words.data() + group * k_quant_group);
  }
  return true;
}

bool convert_q8_0(Bytes source, MutableBytes words, MutableBytes scales) {
  for (std::size_t group = 0; group * k_q8_0_bytes < source.size(); ++group) {
    const Bytes block = source.subspan(group * k_q8_0_bytes, k_q8_0_bytes);
    const auto d = load_as<std::uint16_t>(block, 0);
    const std::uint16_t m = float_to_half(-128.0f * half_to_float(d));
    if (!is_finite_half(m)) return false;
    store_scale(scales, group, d, m);
    std::byte* levels = words.data() + group * k_quant_group;
    // Two's complement with the sign bit flipped is q + 128.
    for (std::size_t i = 0; i < k_quant_group; ++i) levels[i] = block[2 + i] ^ std::byte{0x80};
  }
  return true;
}

// f16 d, f16 dmin, 12 bytes of scales and mins, 128 bytes of nibbles.
bool convert_q4_k(Bytes source, MutableBytes words, MutableBytes scales) {
  GroupLevels levels{};
  for (std::size_t b = 0; b * k_q4_k_bytes < source.size(); ++b) {
    const Bytes block = source.subspan(b * k_q4_k_bytes, k_q4_k_bytes);
    if (!convert_affine_scales(block, block_scales(scales, b))) return false;
    const Bytes nibbles = block.subspan(16, 128);
    for (std::size_t group = 0; group < k_groups_per_super_block; ++group) {
      for (std::size_t i = 0; i < levels.size(); ++i)
        levels[i] = static_cast<std::uint8_t>(nibble_of(nibbles, group, i));
      pack_levels(QuantKind::q4_k, levels, words.subspan((b * k_groups_per_super_block + group) * 16, 16));
    }
  }
  return true;
}

// As Q4_K with 32 bytes before the nibbles: bit g of byte i is the fifth bit of element i of group g.
bool convert_q5_k(Bytes source, MutableBytes words, MutableBytes scales) {
  GroupLevels levels{};
  for (std::size_t b = 0; b * k_q5_k_bytes < source.size(); ++b) {
    const Bytes block = source.subspan(b * k_q5_k_bytes, k_q5_k_bytes);
    if (!convert_affine_scales(block, block_scales(scales, b))) return false;
    const Bytes fifth_bits = block.subspan(16, 32);
    const Bytes nibbles = block.subspan(48, 128);
    for (std::size_t group = 0; group < k_groups_per_super_block; ++group) {
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::uint32_t fifth = (byte_at(fifth_bits, i) >> group) & 1u;
        levels[i] = static_cast<std::uint8_t>(nibble_of(nibbles, group, i) | (fifth << 4));
      }
      pack_levels(QuantKind::q5_k, levels, words.subspan((b * k_groups_per_super_block + group) * 20, 20));
    }
  }
  return true;
}

// 128 bytes of nibbles, 64 of upper bit pairs, 16 signed scales, f16 d. Of each half of the block, groups 0..3: nibbles
// are the low ones of its first and second 32 bytes, then the high ones; the pair of group r is at bit 2r.
bool convert_q6_k(Bytes source, MutableBytes words, MutableBytes scales) {
  GroupLevels levels{};
  for (std::size_t b = 0; b * k_q6_k_bytes < source.size(); ++b) {
    const Bytes block = source.subspan(b * k_q6_k_bytes, k_q6_k_bytes);
    const auto d = load_as<std::uint16_t>(block, 208);
    if (!is_finite_half(d)) return false;
    const float wide_d = half_to_float(d);
    const MutableBytes out_scales = block_scales(scales, b);
    std::memcpy(out_scales.data(), &wide_d, sizeof(wide_d));
    std::memcpy(out_scales.data() + 4, block.data() + 192, 16);
    for (std::size_t group = 0; group < k_groups_per_super_block; ++group) {
      const std::size_t half = group / 4;
      const std::size_t r = group % 4;
      const Bytes nibbles = block.subspan(64 * half + 32 * (r % 2), 32);
      const Bytes pairs = block.subspan(128 + 32 * half, 32);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::uint32_t low = (byte_at(nibbles, i) >> (r / 2 * 4)) & 15u;
        const std::uint32_t high = (byte_at(pairs, i) >> (2 * r)) & 3u;
        levels[i] = static_cast<std::uint8_t>(low | (high << 4));
      }
      pack_levels(QuantKind::q6_k, levels, words.subspan((b * k_groups_per_super_block + group) * 24, 24));
    }
  }
  return true;
}

}  // namespace ztvm::load
