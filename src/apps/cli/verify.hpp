#pragma once
// `zerotvm verify DIR`: the files of a model folder against their record, and repairs.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_verify_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
