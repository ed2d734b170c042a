#include "load/zero_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/in_quotes.hpp"

namespace ztvm::load {

ZeroWatch::ZeroWatch(std::span<const UploadStep> steps, std::size_t n_files) : files_(n_files) {
  for (const UploadStep& step : steps) {
    if (step.flatten) continue;
    for (const SourceRange& source : step.sources) ++files_[source.file].n_pieces;
  }
}

Result<void> ZeroWatch::see(const UploadStep& step, std::size_t source, Bytes bytes,
                            std::span<const CheckpointFile> files) {
  if (step.flatten) return {};
  const std::uint32_t file = step.sources[source].file;
  FileState& state = files_[file];
  --state.n_pieces;
  if (state.has_values) return {};
  state.has_values = std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; });
  state.n_bytes += bytes.size();
  if (state.has_values || state.n_pieces != 0) return {};
  return fail(
      ErrorCode::corrupt_file,
      fmt::format("{} has only zeros in the {} bytes of its matrices, {} among them; it was not downloaded "
                  "completely.",
                  files[file].name, state.n_bytes, in_quotes(step.tensor)));
}

}  // namespace ztvm::load
