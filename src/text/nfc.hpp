#pragma once
// Unicode normalisation form C: composed characters, as Qwen's tokenizers want their text.
#include <string>
#include <string_view>

namespace ztvm::text {

// The NFC form of the well formed `text`.
std::string to_nfc(std::string_view text);

// The same without a quick path: utf8proc natively (nfc_native.cpp), String.normalize in a browser
// (nfc_wasm.cpp).
std::string platform_nfc(std::string_view text);

}  // namespace ztvm::text
