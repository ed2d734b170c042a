#pragma once
// Names and values from untrusted files and servers inside error messages and listings.
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace ztvm {

// `name` as any terminal can show it: bytes outside printable ASCII, quotes and backslashes become \xNN, and
// what exceeds 80 bytes becomes "...".
std::string printable(std::string_view name);
// The same in double quotes.
std::string in_quotes(std::string_view name);
// True for text that a terminal could take for commands, or show in another order than it has: C0 and C1 control codes,
// the latter as UTF-8, and the overrides and isolates of writing direction.
bool has_control_codes(std::string_view text);
// A JSON value as one line of ASCII; what exceeds 80 bytes becomes "...".
std::string shown_json(const nlohmann::json& value);

}  // namespace ztvm
