#pragma once
// Reads the header of a GGUF from disk.
#include "apps/file_source.hpp"
#include "load/gguf.hpp"

namespace ztvm::app {

// Reads only as much of the file as the header needs. Errors: of the file and of the format.
Result<load::GgufFile> read_gguf_header(const FileSource& file);

}  // namespace ztvm::app
