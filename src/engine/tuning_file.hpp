#pragma once
// Measured forms as JSON text, for whoever keeps them between two starts: a file of the command line, a browser's storage.
// They count for one adapter, driver, compiler, kernel set and version of the shaders. Shapes carry their dimensions, so
// models share what they have in common.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "gpu/tuning.hpp"

namespace ztvm::engine {

// What the measurements hold for.
struct TuningKey {
  std::string adapter;
  std::string driver;
  std::string compiler;
  std::string kernels;
  bool operator==(const TuningKey&) const = default;
};
TuningKey tuning_key(const gpu::Caps& caps, const gpu::Target& target);

// When forms are measured that were not before.
enum class Autotune : std::uint8_t {
  off,            // never, and what is kept is not used
  unless_on_cpu,  // "auto": a CPU has little to choose from and takes long; nor are tiny models measured
  on,
};
inline constexpr std::array<std::string_view, 3> k_autotune_names = {"off", "auto", "on"};

// Gives the options what `kept` holds for this adapter, and on a GPU asks for the rest. Called once target, backend are set.
void use_tuning(const gpu::Caps& caps, Autotune when, std::string_view kept, EngineOptions& options);

// {"adapter", "driver", "compiler", "kernels", "shaders", "shapes": {NAME: {"form", "own", "us": {FORM: number}, "wrong"?:
// {FORM: sentence}}}}.
std::string write_tuning(const TuningKey& key, const gpu::Tuning& tuning);
// Empty for a text of another key or of other shaders, and for anything else: it is measured anew then.
gpu::Tuning read_tuning(std::string_view text, const TuningKey& key);

}  // namespace ztvm::engine
