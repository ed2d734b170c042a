#pragma once
// Which reads bring the bytes of upload steps: few, long, and in file order where the format allows it, with bounded
// memory.
//
// Neighbouring steps of one tensor form a batch. What goes with their words (scales, biases) is read first and held,
// then the words follow, and each read of words completes some steps. Without this, an expert whose gate and up lie in
// two tensors costs six reads.
#include <cstdint>
#include <span>
#include <vector>

#include "load/upload_plan.hpp"

namespace ztvm::load {

// The bytes of one part of `n_steps` steps from `first_step` on, which lie behind one another in the file.
struct PlannedRead {
  std::uint32_t file = 0;  // index into Checkpoint::files
  ByteRange range;
  std::size_t part = 0;  // of TensorRecord::parts; 0 is the words
  std::size_t first_step = 0;
  std::size_t n_steps = 0;
};

// Scales and biases that are held at a time.
inline constexpr std::uint64_t k_held_bytes = 16ull << 20;

// Reads of at most `piece_bytes`, or one step. Every byte of the steps is read once, and of each step the words last.
// Steps of a part are read in the order of `steps`.
std::vector<PlannedRead> plan_reads(std::span<const UploadStep> steps,
                                    std::uint64_t piece_bytes = k_piece_bytes,
                                    std::uint64_t held_bytes = k_held_bytes);

}  // namespace ztvm::load
