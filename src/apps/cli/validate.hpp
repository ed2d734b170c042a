#pragma once
// `zerotvm validate MODEL`: every op of the model against its oracle.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_validate_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
