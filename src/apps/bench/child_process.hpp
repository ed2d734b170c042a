#pragma once
// Another program, run to its end or to a limit of time.
#include <functional>
#include <span>
#include <string>

#include "base/error.hpp"

namespace ztvm::app {

struct ChildResult {
  int exit_code = 0;  // 128 + its number for a signal, as shells tell it
  bool timed_out = false;
  std::string output;      // stdout, at most its first MiB
  std::string error_tail;  // the last lines of stderr
};

struct ChildLimits {
  double seconds = 60.0;
  std::function<bool()> interrupted;  // asked some times a second; may be empty
};

// Runs `command` (program and arguments, looked for in PATH) without input. At the limit, and when interrupted, it and
// all that it started are killed. Errors: io where it cannot be started; unsupported when interrupted.
Result<ChildResult> run_child(std::span<const std::string> command, const ChildLimits& limits);

}  // namespace ztvm::app
