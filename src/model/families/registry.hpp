#pragma once
// From a checkpoint to a family: the only place that knows all of them.
#include "model/families/llama.hpp"

namespace ztvm::model {

// Errors: unsupported, naming the architecture and the known ones; or the family's own.
Result<Family> family_from_gguf(const load::GgufFile& file);

}  // namespace ztvm::model
