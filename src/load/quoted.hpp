#pragma once
// Names from untrusted files inside error messages.
#include <string>
#include <string_view>

namespace ztvm::load {

// `name` in double quotes: bytes outside printable ASCII become \xNN, and what exceeds 80 bytes becomes
// "...".
std::string quoted(std::string_view name);

}  // namespace ztvm::load
