#pragma once
// `zerotvm serve`: the chat page and the model files over HTTP.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_serve_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
