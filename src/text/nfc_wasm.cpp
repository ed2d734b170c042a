#include <cstdint>

#include "base/bytes.hpp"
#include "text/nfc.hpp"

// The host writes the NFC form of `in` to `out`, at most `capacity` bytes of it, and returns how many bytes
// it has.
extern "C" __attribute__((import_module("ztvm"), import_name("nfc"))) std::uint32_t ztvm_nfc(
    const char* in, std::uint32_t n_in_bytes, char* out, std::uint32_t capacity);

namespace ztvm::text {

std::string platform_nfc(std::string_view text) {
  const auto n_in_bytes = narrow<std::uint32_t>(text.size());
  std::string result(text.size(), '\0');  // NFC is seldom longer than its source
  for (;;) {
    const auto capacity = narrow<std::uint32_t>(result.size());
    const std::uint32_t n_bytes = ztvm_nfc(text.data(), n_in_bytes, result.data(), capacity);
    result.resize(n_bytes);
    if (n_bytes <= capacity) return result;
  }
}

}  // namespace ztvm::text
