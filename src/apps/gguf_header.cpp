#include "apps/gguf_header.hpp"

#include <algorithm>

namespace ztvm::app {

Result<load::GgufFile> read_gguf_header(const FileSource& file) {
  std::vector<std::byte> bytes;
  while (true) {
    auto progress = load::parse_gguf(bytes, file.name(), file.n_bytes());
    if (!progress) return forward(progress);
    if (auto* done = std::get_if<load::GgufFile>(&*progress)) return std::move(*done);
    const std::uint64_t needed = std::get<load::NeedBytes>(*progress).n_bytes;
    bytes.resize(std::min(file.n_bytes(), std::max<std::uint64_t>(needed, bytes.size() * 2)));
    if (auto read = file.read(0, bytes); !read) return forward(read);
  }
}

}  // namespace ztvm::app
