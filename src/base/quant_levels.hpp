#pragma once
// The levels of a group of 32 weights, and the words that hold them (base/quant_layout.hpp).
#include <array>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/quant_layout.hpp"

namespace ztvm {

// q of each element, below 2^word_bits().
using GroupLevels = std::array<std::uint8_t, k_quant_group>;

// Writes the words of one group of a quantised kind.
void pack_levels(QuantKind kind, const GroupLevels& levels, MutableBytes group);
// Reads them back.
void unpack_levels(QuantKind kind, Bytes group, GroupLevels& levels);

}  // namespace ztvm
