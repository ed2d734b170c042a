#pragma once
// What the files that `zerotvm bench` writes have in common.
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ztvm::app {

// Errors: io.
Result<void> write_bench_text(const std::string& path, std::string_view text);
Result<void> write_bench_json(const std::string& path, const Json& json);

}  // namespace ztvm::app
