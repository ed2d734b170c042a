#pragma once
// What this process takes of the machine's memory, as Linux counts it.
#include <cstdint>

#include "base/error.hpp"

namespace ztvm::app {

// Starts the peak anew: from now on resident_peak_bytes() tells the most since this call. Errors: io.
Result<void> reset_resident_peak();

// The most memory that was resident at a time, device buffers included that lie in host memory. Errors: io.
Result<std::uint64_t> resident_peak_bytes();

}  // namespace ztvm::app
