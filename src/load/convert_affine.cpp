#include "load/convert_affine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/half.hpp"
#include "base/quant_levels.hpp"
#include "load/half_numbers.hpp"

namespace ztvm::load {
namespace {

// Eight nibbles to the low halves of eight bytes, in order.
std::uint64_t spread_nibbles(std::uint32_t nibbles) {
  std::uint64_t x = nibbles;
  x = (x | (x << 16)) & 0x0000FFFF0000FFFFu;
  x = (x | (x << 8)) & 0x00FF00FF00FF00FFu;
  return (x | (x << 4)) & 0x0F0F0F0F0F0F0F0Fu;
}

// 32 nibbles in order to q4's, where elements 16 apart share a byte; each nibble is xored with that of `flip`.
void convert_nibbles(const std::byte* in, std::uint32_t flip, std::byte* out) {
  std::uint32_t nibbles[4];
  std::memcpy(nibbles, in, sizeof(nibbles));
  for (std::uint32_t& word : nibbles) word ^= flip;
  const std::uint64_t packed[2] = {spread_nibbles(nibbles[0]) | (spread_nibbles(nibbles[2]) << 4),
                                   spread_nibbles(nibbles[1]) | (spread_nibbles(nibbles[3]) << 4)};
  std::memcpy(out, packed, sizeof(packed));
}

// 32 fields of three bits in 12 bytes, of which three hold eight fields.
void convert_three_bits(Bytes in, MutableBytes out) {
  GroupLevels levels{};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint32_t fields = static_cast<std::uint32_t>(in[3 * i]) |
                                 (static_cast<std::uint32_t>(in[3 * i + 1]) << 8) |
                                 (static_cast<std::uint32_t>(in[3 * i + 2]) << 16);
    for (std::size_t k = 0; k < 8; ++k)
      levels[8 * i + k] = static_cast<std::uint8_t>((fields >> (3 * k)) & 7u);
  }
  pack_levels(QuantKind::q3, levels, out);
}

void convert_levels(std::uint32_t bits, Bytes in, MutableBytes out) {
  const std::size_t group_bytes = k_quant_group / 8 * bits;
  if (bits == 8) {
    std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  for (std::size_t at = 0; at < in.size(); at += group_bytes) {
    if (bits == 4) {
      convert_nibbles(in.data() + at, 0, out.data() + at);
    } else {
      convert_three_bits(in.subspan(at, group_bytes), out.subspan(at, group_bytes));
    }
  }
}

// Scales or biases from number `first` on as f16; infinite where they do not fit.
void load_halves(Dtype dtype, Bytes numbers, std::size_t first, std::span<std::uint16_t> halves) {
  if (dtype == Dtype::f32) {
    for (std::size_t i = 0; i < halves.size(); ++i)
      halves[i] = float_to_half(load_as<float>(numbers, (first + i) * 4));
    return;
  }
  const Bytes source = numbers.subspan(first * 2, halves.size_bytes());
  std::memcpy(halves.data(), source.data(), source.size());
  if (dtype != Dtype::bf16) return;
  for (std::uint16_t& half : halves) half = bfloat_to_half(half);
}

void store_affine(MutableBytes scales, std::size_t group, std::uint16_t d, std::uint16_t m) {
  const std::uint32_t word = d | (static_cast<std::uint32_t>(m) << 16);
  std::memcpy(scales.data() + group * 4, &word, sizeof(word));
}

}  // namespace

bool convert_mlc_q4(const RowSource& source, MutableBytes words, MutableBytes scales) {
  constexpr std::size_t k_group_bytes = k_quant_group / 2;
  check(words.size() == source.words.size() && source.scales.size() * 2 == scales.size(),
        "a row of q4f16_1 has the bytes of its dim");
  for (std::size_t group = 0; group * k_group_bytes < words.size(); ++group) {
    const auto s = load_as<std::uint16_t>(source.scales, group * 2);
    const std::uint16_t m = eight_times(s);
    if (!is_finite_half(m)) return false;
    store_affine(scales, group, s ^ 0x8000u, m);
    const std::size_t at = group * k_group_bytes;
    convert_nibbles(source.words.data() + at, 0xFFFFFFFFu, words.data() + at);
  }
  return true;
}

bool convert_affine(const RowSource& source, MutableBytes words, MutableBytes scales) {
  check(words.size() == source.words.size(), "a row of affine has the bytes of its dim");
  convert_levels(source.bits, source.words, words);
  const std::size_t repeats = source.group / k_quant_group;
  const std::size_t n_numbers = scales.size() / (4 * repeats);
  std::array<std::uint16_t, 64> d;
  std::array<std::uint16_t, 64> m;
  for (std::size_t first = 0; first < n_numbers; first += d.size()) {
    const std::size_t n = std::min(d.size(), n_numbers - first);
    load_halves(source.scale_dtype, source.scales, first, std::span(d).first(n));
    load_halves(source.bias_dtype, source.biases, first, std::span(m).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_finite_half(d[i]) || !is_finite_half(m[i])) return false;
      for (std::size_t r = 0; r < repeats; ++r) store_affine(scales, (first + i) * repeats + r, d[i], m[i]);
    }
  }
  return true;
}

}  // namespace ztvm::load
