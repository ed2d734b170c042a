#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "base/bytes.hpp"
#include "text/nfc.hpp"

namespace ztvm::text {

std::string platform_nfc(std::string_view text) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t n_bytes = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), narrow<utf8proc_ssize_t>(text.size()), &result,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  check(n_bytes >= 0, "utf8proc_map() fails on well formed text only when memory is exhausted");
  return std::string(reinterpret_cast<const char*>(result), static_cast<std::size_t>(n_bytes));
}

}  // namespace ztvm::text
