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

#include "load/read_plan.hpp"
#include "load/upload_plan.hpp"
#include "load/wanted_range.hpp"
#include "load/zero_watch.hpp"

namespace ztvm::load {

// Bytes for byte `place.offset` of the buffer `place.slot`, a multiple of 4 many.
struct BufferWrite {
  BufferPlace place;
  Bytes bytes;
};

// Holds at most a piece of words, the same converted, and k_held_bytes of scales and biases.
class WeightStream {
 public:
  WeightStream() = default;
  WeightStream(std::vector<UploadStep> steps, std::vector<CheckpointFile> files);

  // The next range; nothing once all weights are written.
  std::optional<WantedRange> wanted() const { return wanted_later(0); }
  // The range that is wanted after `n` others.
  std::optional<WantedRange> wanted_later(std::size_t n) const;
  // The bytes of wanted(), fewer where the file ends earlier, and the length of the whole file. The writes
  // of the steps that it completes are valid until the next call. Errors: corrupt_file for a file of another length than its manifest or
  // header says, for what is no weights at all (a Git LFS pointer, an HTML page), for tensors that were not
  // written (ZeroWatch), and for scales and plain values that are no finite numbers.
  Result<std::span<const BufferWrite>> supply(Bytes bytes, std::uint64_t n_file_bytes);

  // What to tell when the file of wanted() does not exist: not_found, naming file and tensor.
  Error missing() const;

  // Of all ranges together, for progress.
  std::uint64_t n_bytes() const { return n_bytes_; }
  std::uint64_t n_bytes_done() const { return n_bytes_done_; }

 private:
  Result<void> check_file(Bytes bytes, std::uint64_t n_file_bytes) const;
  Result<void> finish_step(std::size_t index, Bytes words, QuantisedRows& converted);
  const PlannedRead& read() const { return reads_[next_read_]; }

  // Scales or biases of the steps that wait for their words.
  struct HeldPart {
    std::vector<std::byte> bytes;
    std::size_t n_used = 0;
  };

  std::vector<UploadStep> steps_;
  std::vector<PlannedRead> reads_;
  std::vector<CheckpointFile> files_;
  ZeroWatch zeros_{{}};
  std::size_t next_read_ = 0;
  std::uint64_t n_bytes_ = 0;
  std::uint64_t n_bytes_done_ = 0;
  std::array<HeldPart, 2> held_;
  std::vector<QuantisedRows> converted_;  // of each step that the last read completed
  std::vector<BufferWrite> writes_;
};

}  // namespace ztvm::load
