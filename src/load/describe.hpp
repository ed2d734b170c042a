#pragma once
// What is in a model file, as text for people.
#include <string>

#include "load/gguf.hpp"

namespace ztvm::load {

// Several lines: format and size, every metadata entry in short, the table of tensors (name, type, shape,
// bytes), and the tensors and bytes of each type.
std::string describe(const GgufFile& gguf);

}  // namespace ztvm::load
