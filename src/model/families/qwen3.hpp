#pragma once
// Qwen3: grouped queries, RMS norm of every head of q and k. MLC fuses q, k, v into c_attn and gate, up into gate_up_proj.
// Llama in the naming of transformers is the same without the norms of q and k.
// Sources: transformers models/{qwen3,llama}; mlc-ai/mlc-llm python/mlc_llm/model/qwen3.
#include "model/families/family.hpp"

namespace ztvm::model {

// Errors: a field that is missing or out of range, or a variant that this engine has no kernels for.
Result<Family> qwen3_from_config(ConfigReader& config, const load::Checkpoint& checkpoint);
Result<Family> llama_from_config(ConfigReader& config, const load::Checkpoint& checkpoint);

}  // namespace ztvm::model
