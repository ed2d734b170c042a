#pragma once
// What a header parser says when the bytes so far are too few.
#include <cstdint>

namespace ztvm::load {

// The header is longer than the bytes given; call again with the first `n_bytes` of the file.
struct NeedBytes {
  std::uint64_t n_bytes = 0;  // more than were given, at most the whole file
};

}  // namespace ztvm::load
