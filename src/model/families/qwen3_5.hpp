#pragma once
// Qwen3.5 and Qwen3.6: gated DeltaNet layers with a gated attention layer among each few, dense (MLC) or a sparse
// mixture of experts (MLX). Files of transformers itself store most norms without the 1 that is added to them; such a
// checkpoint is refused.
// Sources: transformers models/{qwen3_5,qwen3_5_moe}; ml-explore/mlx-lm mlx_lm/models/qwen3_5.py; mlc-ai/mlc-llm
// python/mlc_llm/model/qwen3_5.
#include "model/families/family.hpp"

namespace ztvm::model {

// Errors: a field that is missing or out of range, or a variant that this engine has no kernels for.
Result<Family> qwen3_5_from_config(ConfigReader& config, const load::Checkpoint& checkpoint);

}  // namespace ztvm::model
