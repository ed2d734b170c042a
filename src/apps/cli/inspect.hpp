#pragma once
// `zerotvm inspect MODEL`: what a model file holds, and the memory that it needs on an adapter.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_inspect_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
