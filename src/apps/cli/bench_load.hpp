#pragma once
// zerotvm bench MODEL --load: how fast weights come onto the device, and how much memory that takes.
#include <cstdint>
#include <string>

#include "apps/loaded_model.hpp"

namespace ztvm::app {

// `json` names a file for all figures, empty for none. Returns the exit code.
int bench_load(const ModelOptions& options, std::uint32_t repeat, const std::string& json);

}  // namespace ztvm::app
