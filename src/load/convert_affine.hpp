#pragma once
// Rows of MLC's q4f16_1 and of MLX's affine quantisation, whose levels, scales and biases are tensors of their own,
// to the layouts of base/quant_layout.hpp.
#include "base/bytes.hpp"
#include "load/transform.hpp"

namespace ztvm::load {

// q4f16_1: element k of a row is nibble k % 8 of word k / 8, value (nibble - 7) * s, with an f16 s for 32 weights.
// With q = 15 - nibble this is q4 exactly: d = -s, m = 8 s. False when s or 8 s is no finite f16.
[[nodiscard]] bool convert_mlc_q4(const RowSource& source, MutableBytes words, MutableBytes scales);

// affine: a row is one stream of `bits` bits an element, lowest bit first; value = s * q + b, with s and b for
// `group` weights. Becomes q3, q4 or q8 with f16 d = s and m = b repeated for each 32 weights. That keeps f16 numbers,
// and bf16 ones from 2^-17 up; smaller bf16 ones (MLX scales a group of equal weights by 1e-7) move by at most 2^-25,
// and f32 ones to the nearest f16. False when one is infinite, not a number, or beyond f16.
[[nodiscard]] bool convert_affine(const RowSource& source, MutableBytes words, MutableBytes scales);

}  // namespace ztvm::load
