#pragma once
// The interactive chat of `zerotvm run MODEL`.
#include <string>

#include "apps/loaded_model.hpp"
#include "engine/generation.hpp"

namespace ztvm::app {

// Talks until /exit, Ctrl-D or Ctrl-C twice at the prompt. Returns the exit code.
int chat(engine::Engine& engine, const std::string& system, const engine::GenerateOptions& options);

}  // namespace ztvm::app
