#pragma once
// Whether a file that has come whole can be what its name says. That costs little, and finds what no checksum is known for.
#include <filesystem>
#include <optional>
#include <string>

#include "apps/download/content_hash.hpp"

namespace ztvm::app {

// What is wrong with the contents of `path`, as the end of a sentence that starts with the name of the file, which
// becomes `name`: weights and JSON of no bytes, a GGUF without its first four bytes, JSON that cannot be parsed.
std::optional<std::string> wrong_contents(const std::filesystem::path& path, std::string_view name,
                                          const ContentHashes& hashes);

}  // namespace ztvm::app
