#pragma once
// Keeps the measured forms of ops between two starts: a file for each adapter and kernel set in the user's cache folder,
// $ZEROTVM_CACHE, else $XDG_CACHE_HOME/zerotvm, else ~/.cache/zerotvm.
#include <filesystem>

#include "engine/engine.hpp"
#include "engine/tuning_file.hpp"

namespace ztvm::app {

// Where the measurements of a key are kept; empty where there is no such folder, as without a home.
std::filesystem::path tuning_file(const engine::TuningKey& key);

// Empty where nothing is kept, or what is kept is of something else.
gpu::Tuning load_tuning(const engine::TuningKey& key);
// Adds to what is kept. The file is replaced as a whole. Errors: io.
Result<void> save_tuning(const engine::TuningKey& key, const gpu::Tuning& tuning);

// The options with what is kept for this adapter, see engine::use_tuning().
void use_kept_tuning(const gpu::Caps& caps, engine::Autotune when, engine::EngineOptions& options);
// Keeps what the engine has measured beyond `options`. Errors: io.
Result<void> keep_tuning(const gpu::Caps& caps, const engine::EngineOptions& options,
                         const engine::Engine& engine);

}  // namespace ztvm::app
