#pragma once
// Names from untrusted files inside error messages and listings.
#include <string>
#include <string_view>

namespace ztvm::load {

// `name` as any terminal can show it: bytes outside printable ASCII, quotes and backslashes become \xNN, and
// what exceeds 80 bytes becomes "...".
std::string printable(std::string_view name);
// The same in double quotes.
std::string in_quotes(std::string_view name);

}  // namespace ztvm::load
