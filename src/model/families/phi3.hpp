#pragma once
// Phi-3: fused q, k, v and gate, up; a head of its own. MLC has names of its own, transformers' are the usual ones.
// The sliding window of 2047 positions in Hugging Face's config is ignored, as MLC does.
// Sources: transformers models/phi3; mlc-ai/mlc-llm python/mlc_llm/model/phi3.
#include "model/families/family.hpp"

namespace ztvm::model {

// Errors: a field that is missing or out of range, or a variant that this engine has no kernels for (longrope).
Result<Family> phi3_from_config(ConfigReader& config, const load::Checkpoint& checkpoint);

}  // namespace ztvm::model
