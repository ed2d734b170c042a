#pragma once
// Recognises what people get instead of a model file: a Git LFS pointer, an error page.
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace ztvm::load {

// First bytes that sniff_wrong_file() looks at; a caller with fewer of a longer file should get them first.
inline constexpr std::uint64_t k_sniff_bytes = 256;

// What the file is and what to do, as the end of a sentence that starts with its name; nothing when it may be
// a model.
std::optional<std::string_view> sniff_wrong_file(Bytes prefix);

}  // namespace ztvm::load
