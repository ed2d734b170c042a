#pragma once
// From a checkpoint to a family: the only place that knows all of them.
#include "load/gguf_metadata.hpp"
#include "model/families/family.hpp"

namespace ztvm::model {

// By the GGUF's architecture. Errors: unsupported, naming the architecture and the known ones; or the family's own.
Result<Family> family_from_gguf(const load::GgufMetadata& metadata, const load::Checkpoint& file);

// By the model_type of a JSON config named `name`: Hugging Face's and MLX's config.json or MLC's mlc-chat-config.json.
// Errors: the same, and corrupt_file for a field that is missing or out of range.
Result<Family> family_from_config(const Json& config, const std::string& name,
                                  const load::Checkpoint& checkpoint);

}  // namespace ztvm::model
