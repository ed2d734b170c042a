#pragma once
// `zerotvm run MODEL [PROMPT]`: answers a prompt, or chats.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_run_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
