#pragma once
// zerotvm perplexity MODEL FILE: how well the model predicts a text, and what an option changes about that.
#include "apps/cli/command.hpp"

namespace ztvm::app {

void add_perplexity_command(CLI::App& program, Action& action);

}  // namespace ztvm::app
