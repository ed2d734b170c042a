#pragma once
// How weight matrices lie in GPU buffers: the one layout that loaders write, kernels read and oracles check.
//
// A matrix [rows, dim] has a "words" buffer and, when quantised, a "scales" buffer, both row by row,
// little-endian u32.
// - q4: a group of 32 weights is 4 words; byte b of word j holds element 4j+b in its low nibble and element
// 16+4j+b
//   in its high nibble, each an unsigned q in 0..15.
// - q8: a group is 8 words: 32 signed bytes in order.
// - q4 and q8: one scales word a group: low half f16 d, high half f16 m; value = d * q + m (m is 0 for q8).
// - f16, f32: words hold the values in order, two or one a word; there is no scales buffer.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace ztvm {

enum class QuantKind : std::uint8_t { f32, f16, q8, q4 };

std::string_view to_string(QuantKind kind);

// Weights that share one scale; the dim of every matrix is a multiple of it.
inline constexpr std::uint32_t k_quant_group = 32;

struct QuantLayout {
  QuantKind kind = QuantKind::f32;
  std::uint32_t dim = 0;  // elements a row

  constexpr bool has_scales() const { return kind == QuantKind::q8 || kind == QuantKind::q4; }
  constexpr std::uint64_t words_bytes_per_row() const {
    switch (kind) {
      case QuantKind::f32: return std::uint64_t{dim} * 4;
      case QuantKind::f16: return std::uint64_t{dim} * 2;
      case QuantKind::q8: return dim;
      case QuantKind::q4: return dim / 2;
    }
    return 0;
  }
  constexpr std::uint64_t scales_bytes_per_row() const {
    return has_scales() ? std::uint64_t{dim / k_quant_group} * 4 : 0;
  }
  friend bool operator==(const QuantLayout&, const QuantLayout&) = default;
};

// The f32 values of one row; out.size() is dim. Every value is d * q + m with one f32 rounding.
void dequantise_row(QuantKind kind, Bytes words, Bytes scales, std::span<float> out);

// Rows in kernel layout on the host, as the two buffers hold them.
struct QuantisedRows {
  std::vector<std::byte> words;
  std::vector<std::byte> scales;  // empty for f16 and f32
};

// Quantises rows of `dim` values, for tests and benchmarks: q4 spans min to max of a group, q8 is symmetric.
// values.size() is a multiple of dim; dim is a multiple of k_quant_group. Values are finite and fit f16.
QuantisedRows quantise_rows(QuantKind kind, std::span<const float> values, std::uint32_t dim);

}  // namespace ztvm
