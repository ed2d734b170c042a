#pragma once
// What is in a model, as text for people.
#include <string>

#include "load/gguf.hpp"
#include "load/model_files.hpp"

namespace ztvm::load {

// Several lines: format and size, every metadata entry in short, the table of tensors (name, type, shape,
// bytes), and the tensors and bytes of each type.
std::string describe(const GgufFile& gguf);
// The same of any model: a folder has files instead of metadata.
std::string describe(const ModelFiles& model);

}  // namespace ztvm::load
