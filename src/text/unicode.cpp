#include "text/unicode.hpp"

#include <algorithm>

namespace ztvm::text {

std::uint8_t char_classes(char32_t code_point) {
  const std::uint32_t last_of_code_point = static_cast<std::uint32_t>(code_point) << 8 | 0xFFu;
  const auto after = std::ranges::upper_bound(k_class_runs, last_of_code_point);
  return static_cast<std::uint8_t>(*(after - 1) & 0xFFu);
}

}  // namespace ztvm::text
