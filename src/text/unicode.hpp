#pragma once
// Character classes of Unicode 14, as regular expressions of tokenizers name them.
#include <array>
#include <cstdint>

namespace ztvm::text {

inline constexpr std::uint8_t k_letter = 1;  // \p{L}
inline constexpr std::uint8_t k_mark = 2;    // \p{M}
inline constexpr std::uint8_t k_number = 4;  // \p{N}
inline constexpr std::uint8_t k_space = 8;   // \s: the property White_Space
inline constexpr std::uint8_t k_word = 16;   // \w: alphabetic, marks, decimal digits, connectors, joiners

// The classes of a code point, or-ed together; 0 for everything else, unassigned ones included.
std::uint8_t char_classes(char32_t code_point);

inline bool is_space(char32_t code_point) { return (char_classes(code_point) & k_space) != 0; }

// Each entry begins a run of code points with the same classes: first code point << 8 | classes, ascending.
inline constexpr std::size_t k_n_class_runs = 1913;
extern const std::array<std::uint32_t, k_n_class_runs> k_class_runs;

}  // namespace ztvm::text
