#pragma once
// Finds holes in a matrix: stretches of reserved space that a broken download never wrote.
//
// Rule: zero bytes, one after another in the rows of a matrix, are a hole
// - where scales lie apart: from k_apart_bytes on, when a row among them is zero in its words, but not in its scales
//   (MLC) or biases (MLX);
// - else: from k_hole_bytes on, a page of a file system, when they begin or end within a row, of which k_inside_bytes or
//   more are then zero.
// Training and padding leave whole rows of zeros at most (vocabulary that is not used, for one). Those begin and end
// with rows, and quantise to scales or biases of zero; nothing else makes every level of a row zero.
#include <cstdint>
#include <span>

#include "load/upload_plan.hpp"

namespace ztvm::load {

class ZeroHoles {
 public:
  static constexpr std::uint64_t k_apart_bytes = 1024;
  static constexpr std::uint64_t k_hole_bytes = 4096;
  static constexpr std::uint64_t k_inside_bytes = 32;

  struct Hole {
    std::uint64_t offset = 0;  // in the file of the words
    std::uint64_t n_bytes = 0;
  };

  // The bytes of a step, one span for each of its sources. What lies behind the step before goes on with its stretch.
  // The first hole stays in hole().
  void see(const UploadStep& step, std::span<const Bytes> sources);
  // Nothing of the tensor follows.
  void end_tensor() { end_stretch(0); }

  const Hole& hole() const { return hole_; }  // of no bytes: there is none

 private:
  void start_stretch(std::uint64_t offset, std::uint64_t n_bytes);
  void end_stretch(std::uint64_t n_more);

  std::uint32_t file_ = UINT32_MAX;
  std::uint64_t next_offset_ = 0;  // behind the last step
  Hole stretch_;
  bool is_apart_ = false;  // scales lie apart
  bool begins_inside_ = false;
  bool has_scales_ = false;  // of a row of zero words
  Hole hole_;
};

}  // namespace ztvm::load
