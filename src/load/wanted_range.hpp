#pragma once
// What a pull reader asks its caller for.
#include <cstdint>
#include <string>

namespace ztvm::load {

struct WantedRange {
  std::string file;  // inside the model's folder, or the .gguf's own name
  std::uint64_t offset = 0;
  std::uint64_t n_bytes = 0;
  bool whole = false;     // the entire file from 0; n_bytes is the most that is accepted
  bool optional = false;  // the folder may have no such file
};

}  // namespace ztvm::load
