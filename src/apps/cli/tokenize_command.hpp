#pragma once
// `zerotvm tokenize TOKENIZER_OR_MODEL`: JSON lines through a tokenizer.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_tokenize_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
