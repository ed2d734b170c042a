#pragma once
// What the JSON files of `zerotvm bench` have in common.
#include <string>

#include "apps/bench/measure.hpp"
#include "base/json.hpp"

namespace ztvm::app {

Json samples_json(const Samples& samples);

// Errors: io.
Result<void> write_bench_json(const std::string& path, const Json& json);

}  // namespace ztvm::app
