#pragma once
// Files of the source tree for tests.
#include <fstream>
#include <iterator>
#include <string>

namespace ztvm::test {

// The bytes of a file, its path relative to the root of the sources; empty when it does not exist.
inline std::string read_source_file(const std::string& path) {
  std::ifstream in(std::string(ZTVM_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace ztvm::test
