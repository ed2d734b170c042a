#include "base/quant_levels.hpp"

#include <cstring>

namespace ztvm {
namespace {

constexpr std::size_t k_half = k_quant_group / 2;
constexpr std::size_t k_nibble_bytes = k_half;

std::uint32_t byte_at(Bytes bytes, std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); }

void pack_nibbles(const GroupLevels& levels, MutableBytes out) {
  for (std::size_t i = 0; i < k_half; ++i) {
    out[i] = static_cast<std::byte>((levels[i] & 15u) | ((levels[k_half + i] & 15u) << 4));
  }
}

void unpack_nibbles(Bytes in, GroupLevels& levels) {
  for (std::size_t i = 0; i < k_half; ++i) {
    levels[i] = static_cast<std::uint8_t>(byte_at(in, i) & 15u);
    levels[k_half + i] = static_cast<std::uint8_t>(byte_at(in, i) >> 4);
  }
}

// One word: bit t of byte b is bit `bit` of the level of element 4t+b.
void pack_bits(const GroupLevels& levels, std::uint32_t bit, MutableBytes out) {
  for (std::size_t b = 0; b < 4; ++b) {
    std::uint32_t packed = 0;
    for (std::size_t t = 0; t < 8; ++t) packed |= ((levels[4 * t + b] >> bit) & 1u) << t;
    out[b] = static_cast<std::byte>(packed);
  }
}

void unpack_bits(Bytes in, std::uint32_t bit, GroupLevels& levels) {
  for (std::size_t i = 0; i < k_quant_group; ++i) {
    levels[i] |= static_cast<std::uint8_t>(((byte_at(in, i % 4) >> (i / 4)) & 1u) << bit);
  }
}

// Two words: bits 2p and 2p+1 of byte b of word j are bits `bit` and `bit` + 1 of the level of element 16j+4p+b.
void pack_bit_pairs(const GroupLevels& levels, std::uint32_t bit, MutableBytes out) {
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t b = 0; b < 4; ++b) {
      std::uint32_t packed = 0;
      for (std::size_t p = 0; p < 4; ++p) packed |= ((levels[16 * j + 4 * p + b] >> bit) & 3u) << (2 * p);
      out[4 * j + b] = static_cast<std::byte>(packed);
    }
  }
}

void unpack_bit_pairs(Bytes in, std::uint32_t bit, GroupLevels& levels) {
  for (std::size_t i = 0; i < k_quant_group; ++i) {
    const std::uint32_t pair = (byte_at(in, i / 16 * 4 + i % 4) >> (i / 4 % 4 * 2)) & 3u;
    levels[i] |= static_cast<std::uint8_t>(pair << bit);
  }
}

}  // namespace

void pack_levels(QuantKind kind, const GroupLevels& levels, MutableBytes group) {
  switch (kind) {
    case QuantKind::q8: std::memcpy(group.data(), levels.data(), levels.size()); return;
    case QuantKind::q3:
      pack_bit_pairs(levels, 0, group);
      pack_bits(levels, 2, group.subspan(8));
      return;
    case QuantKind::q4:
    case QuantKind::q4_k: pack_nibbles(levels, group); return;
    case QuantKind::q5_k:
      pack_nibbles(levels, group);
      pack_bits(levels, 4, group.subspan(k_nibble_bytes));
      return;
    case QuantKind::q6_k:
      pack_nibbles(levels, group);
      pack_bit_pairs(levels, 4, group.subspan(k_nibble_bytes));
      return;
    case QuantKind::f32:
    case QuantKind::f16:
    case QuantKind::bf16: break;
  }
  check(false, "a kind without scales has no levels");
}

void unpack_levels(QuantKind kind, Bytes group, GroupLevels& levels) {
  switch (kind) {
    case QuantKind::q8: std::memcpy(levels.data(), group.data(), levels.size()); return;
    case QuantKind::q3:
      levels.fill(0);
      unpack_bit_pairs(group, 0, levels);
      unpack_bits(group.subspan(8), 2, levels);
      return;
    case QuantKind::q4:
    case QuantKind::q4_k: unpack_nibbles(group, levels); return;
    case QuantKind::q5_k:
      unpack_nibbles(group, levels);
      unpack_bits(group.subspan(k_nibble_bytes), 4, levels);
      return;
    case QuantKind::q6_k:
      unpack_nibbles(group, levels);
      unpack_bit_pairs(group.subspan(k_nibble_bytes), 4, levels);
      return;
    case QuantKind::f32:
    case QuantKind::f16:
    case QuantKind::bf16: break;
  }
  check(false, "a kind without scales has no levels");
}

}  // namespace ztvm
