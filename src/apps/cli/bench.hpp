#pragma once
// `zerotvm bench`: how fast a model runs here, beside what the memory allows.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_bench_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
