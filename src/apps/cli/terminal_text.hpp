#pragma once
// Text of models, files and servers, made safe for a terminal, which takes control codes for commands.
#include <string>
#include <string_view>

namespace ztvm::app {

// For sentences: control codes (C0 but newline and tab, DEL, C1) and the overrides and isolates of writing direction as
// \xNN, byte by byte.
std::string with_codes_shown(std::string_view text);

// For what a model writes, a whole number of characters: control codes are left out. Direction marks stay, because
// Arabic and Hebrew need them.
std::string without_codes(std::string_view text);

}  // namespace ztvm::app
