#pragma once
// Weights on their way from files to buffers: pulls the ranges of an upload plan one after another, checks that each
// file is the one that was promised, and gives back converted bytes with their places.
//
//   while (const auto range = stream.wanted()) {
//     read it; for (const BufferWrite& write : *stream.supply(bytes, n_file_bytes)) write it to its buffer;
//   }
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/upload_plan.hpp"
#include "load/wanted_range.hpp"
#include "load/zero_watch.hpp"

namespace ztvm::load {

// Bytes for byte `place.offset` of the buffer `place.slot`, a multiple of 4 many.
struct BufferWrite {
  BufferPlace place;
  Bytes bytes;
};

// Holds one step at a time: at most a piece of words with its scales and biases, and the same converted.
class WeightStream {
 public:
  WeightStream() = default;
  WeightStream(std::vector<UploadStep> steps, std::vector<CheckpointFile> files);

  // The next range; nothing once all weights are written.
  std::optional<WantedRange> wanted() const;
  // The bytes of wanted(), fewer where the file ends earlier, and the length of the whole file. The result is none or
  // two writes, valid until the next call. Errors: corrupt_file for a file of another length than its manifest or
  // header says, for what is no weights at all (a Git LFS pointer, an HTML page), for one that is all zero
  // (ZeroWatch), and for scales that are no finite numbers.
  Result<std::span<const BufferWrite>> supply(Bytes bytes, std::uint64_t n_file_bytes);

  // What to tell when the file of wanted() does not exist: not_found, naming file and tensor.
  Error missing() const;

  // Of all ranges together, for progress.
  std::uint64_t n_bytes() const { return n_bytes_; }
  std::uint64_t n_bytes_done() const { return n_bytes_done_; }

 private:
  Result<void> check_file(Bytes bytes, std::uint64_t n_file_bytes) const;
  Result<std::span<const BufferWrite>> finish_step(Bytes last);
  const SourceRange& source() const { return steps_[next_step_].sources[next_source_]; }

  std::vector<UploadStep> steps_;
  std::vector<CheckpointFile> files_;
  ZeroWatch zeros_{{}, 0};
  std::size_t next_step_ = 0;
  std::size_t next_source_ = 0;
  std::uint64_t n_bytes_ = 0;
  std::uint64_t n_bytes_done_ = 0;
  std::array<std::vector<std::byte>, 2> held_;  // sources of the step that came before its last
  QuantisedRows converted_;
  std::array<BufferWrite, 2> writes_;
};

}  // namespace ztvm::load
