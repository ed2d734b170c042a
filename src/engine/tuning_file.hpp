#pragma once
// Measured forms as JSON text, for whoever keeps them between two starts: a file of the command line, a browser's storage.
// They count for one adapter, driver, compiler, kernel set and version of the shaders. Shapes carry their dimensions, so
// models share what they have in common.
#include <string>
#include <string_view>

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

// {"adapter", "driver", "compiler", "kernels", "shaders", "shapes": {NAME: {"form", "us": {FORM: number}, "wrong"?:
// {FORM: sentence}}}}.
std::string write_tuning(const TuningKey& key, const gpu::Tuning& tuning);
// Empty for a text of another key or of other shaders, and for anything else: it is measured anew then.
gpu::Tuning read_tuning(std::string_view text, const TuningKey& key);

}  // namespace ztvm::engine
