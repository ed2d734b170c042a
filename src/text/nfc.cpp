#include "text/nfc.hpp"

#include <algorithm>

namespace ztvm::text {

std::string to_nfc(std::string_view text) {
  // Nothing below U+0300 (lead byte 0xCC) composes with what stands before it, so such text is NFC already.
  const bool is_nfc = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
  return is_nfc ? std::string(text) : platform_nfc(text);
}

}  // namespace ztvm::text
