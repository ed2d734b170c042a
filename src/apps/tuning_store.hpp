#pragma once
// Keeps the measured forms of ops between two starts: a file for each adapter and kernel set in the user's cache folder,
// $ZEROTVM_CACHE, else $XDG_CACHE_HOME/zerotvm, else ~/.cache/zerotvm.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/tuning_file.hpp"

namespace ztvm::app {

// Where the measurements of a key are kept; empty where there is no such folder, as without a home.
std::filesystem::path tuning_file(const engine::TuningKey& key);

// Empty where nothing is kept, or what is kept is of something else.
gpu::Tuning load_tuning(const engine::TuningKey& key);
// Adds to what is kept. The file is replaced as a whole. Errors: io.
Result<void> save_tuning(const engine::TuningKey& key, const gpu::Tuning& tuning);

// When forms are measured that were not before.
enum class Autotune : std::uint8_t {
  off,            // never, and what is kept is not used
  unless_on_cpu,  // a CPU has little to choose from, and takes long
  on,
};
inline constexpr std::array<std::string_view, 3> k_autotune_names = {"off", "auto", "on"};

// Gives the options what is kept for this adapter, and on a GPU asks for the rest.
void use_tuning(const gpu::Caps& caps, Autotune when, engine::EngineOptions& options);
// Keeps what the engine has measured beyond `options`. Errors: io.
Result<void> keep_tuning(const gpu::Caps& caps, const engine::EngineOptions& options,
                         const engine::Engine& engine);

}  // namespace ztvm::app
