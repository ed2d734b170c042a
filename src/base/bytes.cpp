#include "base/bytes.hpp"

#include <fmt/format.h>

#include <array>

namespace ztvm {

std::string format_bytes(std::uint64_t n_bytes) {
  constexpr std::array k_units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(n_bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < k_units.size()) {
    value /= 1000.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", n_bytes) : fmt::format("{:.1f} {}", value, k_units[unit]);
}

}  // namespace ztvm
