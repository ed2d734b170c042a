#pragma once
// The Llama family in GGUF (SmolLM2 among it): metadata keys "llama.*", tensor names of llama.cpp's converter.
// Source: ggml-org/llama.cpp gguf-py/gguf/constants.py (names), convert_hf_to_gguf.py (permuted q and k).
#include "load/gguf_metadata.hpp"
#include "model/families/family.hpp"

namespace ztvm::model {

// Reads and checks the numbers. Errors: a key that is missing or out of range, or a shape that this engine has no
// kernels for.
Result<Family> llama_from_gguf(const load::GgufMetadata& metadata, const load::Checkpoint& file);

}  // namespace ztvm::model
