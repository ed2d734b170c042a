#pragma once
// Rows of ggml's block formats, as GGUF stores them, to the layouts of base/quant_layout.hpp.
// Source: llama.cpp, ggml/src/ggml-common.h and ggml-quants.c.
#include "base/bytes.hpp"

namespace ztvm::load {

// Each converts one row: whole blocks in, words and scales of its kind out. False for a scale that is infinite or not
// a number, or one that overflows f16 when multiplied: the file is damaged.
[[nodiscard]] bool convert_q4_0(Bytes source, MutableBytes words, MutableBytes scales);  // q4: m = -8 d
[[nodiscard]] bool convert_q4_1(Bytes source, MutableBytes words, MutableBytes scales);  // q4
[[nodiscard]] bool convert_q5_0(Bytes source, MutableBytes words, MutableBytes scales);  // q8: m = -16 d
[[nodiscard]] bool convert_q5_1(Bytes source, MutableBytes words, MutableBytes scales);  // q8
[[nodiscard]] bool convert_q8_0(Bytes source, MutableBytes words, MutableBytes scales);  // q8: m = -128 d
[[nodiscard]] bool convert_q4_k(Bytes source, MutableBytes words, MutableBytes scales);  // q4_k
[[nodiscard]] bool convert_q5_k(Bytes source, MutableBytes words, MutableBytes scales);  // q5_k
[[nodiscard]] bool convert_q6_k(Bytes source, MutableBytes words, MutableBytes scales);  // q6_k

}  // namespace ztvm::load
