#pragma once
// `zerotvm logits MODEL --ids 1,2,3 --out FILE`: logits and hidden states as raw f32.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_logits_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
