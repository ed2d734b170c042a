#pragma once
// Finds files whose weights are all zero: space that was reserved for a download, and never written.
//
// Rule: a file is refused when every byte of matrices that was read from it, words and scales alike, is zero once all
// of them were. No trained matrix is all zero together with its scales, let alone each in a shard. Vectors do not
// count, because a bias or a norm's offset may be zero; a file of vectors alone is never refused.
#include <span>
#include <string>
#include <vector>

#include "load/upload_plan.hpp"

namespace ztvm::load {

class ZeroWatch {
 public:
  // `steps` are all that will be supplied.
  ZeroWatch(std::span<const UploadStep> steps, std::size_t n_files);

  // The bytes of source `source` of a step. Error: corrupt_file, naming file and tensor, at the last piece of a file.
  Result<void> see(const UploadStep& step, std::size_t source, Bytes bytes,
                   std::span<const CheckpointFile> files);

 private:
  struct FileState {
    std::uint64_t n_pieces = 0;  // of matrices, still to come
    std::uint64_t n_bytes = 0;   // seen so far, all zero
    bool has_values = false;
  };
  std::vector<FileState> files_;
};

}  // namespace ztvm::load
