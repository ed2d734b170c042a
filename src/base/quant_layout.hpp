#pragma once
// How weight matrices lie in GPU buffers: the one layout that loaders write, kernels read and oracles check.
//
// A matrix [rows, dim] has a "words" buffer and, when quantised, a "scales" buffer, both row by row,
// little-endian u32. A group is 32 weights of a row with levels q >= 0 (base/quant_levels.hpp):
// - q8: 8 words: 32 bytes in order.
// - q4: 4 words; byte b of word j holds element 4j+b in its low nibble and element 16+4j+b in its high one.
// - q3: 3 words; byte b of word j < 2 holds the low two bits of element 16j+4p+b at bit 2p; byte b of word 2 holds
//   the high bit of element 4t+b at bit t.
// - q4_k: as q4. q5_k: 5 words: q4's, then one of fifth bits as q3's high bits. q6_k: 6 words: q4's, then two of
//   upper bits as q3's low ones.
// - f32, f16, bf16: words hold the values in order, one or two a word; there is no scales buffer.
// Scales:
// - q8, q4, q3: one word a group, f16 d and (upper half) f16 m; value = d * q + m.
// - q4_k, q5_k: a super-block of 8 groups has 5 words: f16 d and f16 dmin, then a byte sc and a byte mn for each
//   group; value = (d * sc) * q - dmin * mn.
// - q6_k: 5 words: d as f32, because files have it as an f16 that is mostly subnormal, which some GPUs flush to 0;
//   then 16 signed bytes sc, one for 16 weights; value = d * (sc * (q - 32)).
// Products of d are exact in f32, so every value has one f32 rounding at most.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace ztvm {

enum class QuantKind : std::uint8_t { f32, f16, bf16, q8, q4, q3, q4_k, q5_k, q6_k };

inline constexpr std::array k_all_quant_kinds = {QuantKind::f32,  QuantKind::f16,  QuantKind::bf16,
                                                 QuantKind::q8,   QuantKind::q4,   QuantKind::q3,
                                                 QuantKind::q4_k, QuantKind::q5_k, QuantKind::q6_k};

std::string_view to_string(QuantKind kind);

// Weights whose levels lie together; the dim of every matrix is a multiple of it.
inline constexpr std::uint32_t k_quant_group = 32;
// Weights that share d in q4_k, q5_k and q6_k; the dim of such a matrix is a multiple of it.
inline constexpr std::uint32_t k_quant_super_block = 256;
inline constexpr std::size_t k_groups_per_super_block = k_quant_super_block / k_quant_group;
inline constexpr std::uint32_t k_super_block_scale_bytes = 20;

struct QuantLayout {
  QuantKind kind = QuantKind::f32;
  std::uint32_t dim = 0;  // elements a row

  constexpr bool has_super_blocks() const {
    return kind == QuantKind::q4_k || kind == QuantKind::q5_k || kind == QuantKind::q6_k;
  }
  constexpr bool has_scales() const {
    return kind == QuantKind::q8 || kind == QuantKind::q4 || kind == QuantKind::q3 || has_super_blocks();
  }
  // What the dim of a matrix of this kind is a multiple of.
  constexpr std::uint32_t dim_multiple() const {
    return has_super_blocks() ? k_quant_super_block : k_quant_group;
  }
  // Bits of one weight in the words buffer.
  constexpr std::uint32_t word_bits() const {
    switch (kind) {
      case QuantKind::f32: return 32;
      case QuantKind::f16:
      case QuantKind::bf16: return 16;
      case QuantKind::q8: return 8;
      case QuantKind::q6_k: return 6;
      case QuantKind::q5_k: return 5;
      case QuantKind::q4:
      case QuantKind::q4_k: return 4;
      case QuantKind::q3: return 3;
    }
    return 0;
  }
  constexpr std::uint64_t words_bytes_per_row() const { return std::uint64_t{dim} * word_bits() / 8; }
  constexpr std::uint64_t scales_bytes_per_row() const {
    if (has_super_blocks()) return std::uint64_t{dim / k_quant_super_block} * k_super_block_scale_bytes;
    return has_scales() ? std::uint64_t{dim / k_quant_group} * 4 : 0;
  }
  friend bool operator==(const QuantLayout&, const QuantLayout&) = default;
};

// The f32 values of one row; out.size() is dim.
void dequantise_row(QuantKind kind, Bytes words, Bytes scales, std::span<float> out);

// Rows in kernel layout on the host, as the two buffers hold them.
struct QuantisedRows {
  std::vector<std::byte> words;
  std::vector<std::byte> scales;  // empty for f32, f16 and bf16
};

// Quantises rows of `dim` values to the nearest level, for tests and benchmarks. q8, q4 and q3 span min to max of a
// group; q4_k and q5_k do so with 6 bits of scale and min, and include 0; q6_k is symmetric. values.size() is a
// multiple of dim, dim of dim_multiple(). Values are finite and fit f16.
QuantisedRows quantise_rows(QuantKind kind, std::span<const float> values, std::uint32_t dim);

}  // namespace ztvm
