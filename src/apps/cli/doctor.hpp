#pragma once
// `zerotvm doctor`: the adapter, the kernel set chosen for it, and every kernel against its oracle.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_doctor_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
