#include "apps/download/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace ztvm::app {

double Backoff::wait_ms(std::uint32_t n_failures, std::optional<std::uint64_t> asked_s) const {
  const double doubled = first_ms * std::exp2(static_cast<double>(std::max(n_failures, 1u) - 1));
  const double chance = random ? random() : 1.0;
  const double own = std::min(doubled, max_ms) * (0.5 + 0.5 * chance);
  return std::max(own, static_cast<double>(asked_s.value_or(0)) * 1000.0);
}

}  // namespace ztvm::app
