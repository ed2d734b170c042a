#include "apps/bench/process_memory.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace ztvm::app {

Result<void> reset_resident_peak() {
  std::ofstream out("/proc/self/clear_refs");
  out << "5";  // of proc(5): the peak becomes what is resident now
  if (out.flush()) return {};
  return fail(ErrorCode::io, "Cannot write \"/proc/self/clear_refs\", which starts the peak of memory anew.");
}

Result<std::uint64_t> resident_peak_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string field; in >> field;) {
    std::uint64_t n_kib = 0;
    if (field == "VmHWM:" && in >> n_kib) return n_kib * 1024;
  }
  return fail(ErrorCode::io, "\"/proc/self/status\" has no VmHWM, the peak of memory.");
}

}  // namespace ztvm::app
