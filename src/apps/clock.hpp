#pragma once
// The clock that everything below `apps` is handed.
#include <chrono>

namespace ztvm::app {

// Milliseconds of a clock that only goes forward.
inline double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace ztvm::app
