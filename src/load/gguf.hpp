#pragma once
// GGUF: header parsing from the first bytes of a file, without the file. Versions 2 and 3, little endian.
// Format: ggml/docs/gguf.md of ggml-org/ggml; tensor types F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K,
// Q5_K, Q6_K.
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "load/checkpoint.hpp"
#include "load/gguf_metadata.hpp"
#include "load/need_bytes.hpp"

namespace ztvm::load {

struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  GgufMetadata metadata;
};

// A checked header: every tensor lies inside the file, aligned, and overlaps no other.
struct GgufFile : GgufHeader {
  Checkpoint checkpoint;  // of one file
};

using GgufProgress = std::variant<NeedBytes, GgufFile>;

// Parses the header from `prefix`, the first bytes (possibly none) of a file of `n_file_bytes`, called `file`
// in errors. Errors: corrupt_file for whatever contradicts the format, also Git LFS pointers and HTML pages;
// unsupported for other versions, big endian, and tensor types without kernels. Each names file, key or
// tensor, the given and the expected.
Result<GgufProgress> parse_gguf(Bytes prefix, std::string_view file, std::uint64_t n_file_bytes);

}  // namespace ztvm::load
