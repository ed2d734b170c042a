#include "base/error.hpp"

#include <cstdio>

namespace ztvm {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::corrupt_file: return "corrupt_file";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::context_full: return "context_full";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device: return "device";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

void check(bool condition, std::string_view what, std::source_location where) {
  if (condition) [[likely]]
    return;
  std::fprintf(stderr, "%s:%u: internal error: %.*s\n", where.file_name(),
               static_cast<unsigned>(where.line()), static_cast<int>(what.size()), what.data());
  __builtin_trap();
}

}  // namespace ztvm
