#pragma once
// `zerotvm download ALIAS|REPO`: a model from a hub into a folder, whole or not at all.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_download_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
