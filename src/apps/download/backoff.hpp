#pragma once
// How long to wait before another try. Pure: chance comes in as a function.
#include <cstdint>
#include <functional>
#include <optional>

namespace ztvm::app {

struct Backoff {
  std::uint32_t n_tries = 7;  // in a row without progress, the first one included
  double first_ms = 500;
  double max_ms = 30'000;
  double max_asked_ms = 300'000;   // a server that asks for a longer wait is not waited for
  std::function<double()> random;  // from 0 to 1; none: 1

  // The wait after the n-th failure in a row (from 1): doubled each time, then shortened by chance to as little as half,
  // so that many clients do not come back together; never shorter than what the server asks for.
  double wait_ms(std::uint32_t n_failures, std::optional<std::uint64_t> asked_s) const;
};

}  // namespace ztvm::app
