#pragma once
// From tensors in files to rows in GPU buffers: which byte ranges to read, in file order, and where each piece
// goes. Pure planning and conversion; the caller reads the files and owns the buffers, which it numbers as
// "slots".
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/quant_layout.hpp"
#include "load/checkpoint.hpp"

namespace ztvm::load {

// Rows [first_row, first_row + n_rows) of a matrix whose words and scales buffers are the caller's slots.
// Fused matrices (q, k, v; gate, up) are targets of the same slots with rows behind each other.
struct RowTarget {
  std::uint32_t words_slot = 0;
  std::uint32_t scales_slot = 0;  // unused for kinds without scales
  std::uint64_t first_row = 0;
  std::uint64_t n_rows = 0;
};

struct UploadRequest {
  const TensorRecord* tensor = nullptr;
  // The tensor as one row of f32, whatever its shape: norms, convolution taps, other small floats.
  bool flatten = false;
  bool may_be_zero = false;  // all of it, in a whole file (load/zero_watch.hpp)
  // Where to start in the tensor; the experts of [n_experts, rows, dim] count as n_experts * rows rows.
  std::uint64_t first_row = 0;
  // Not 0: q or k of a llama-family GGUF, whose rows are put back from pairs to rotate-half order within each
  // head.
  std::uint32_t unpermute_head_dim = 0;
  // Take the tensor's rows in order from first_row on. Several, when a binding limit splits it: each then whole
  // heads if un-permuted.
  std::vector<RowTarget> targets;
};

struct BufferPlace {
  std::uint32_t slot = 0;
  std::uint64_t offset = 0;  // bytes, a multiple of 4
};

// A stretch of one file that a step reads.
struct SourceRange {
  std::uint32_t file = 0;  // index into Checkpoint::files
  ByteRange range;
  Dtype dtype = Dtype::f32;  // of TensorPart
};

// Whole rows of one tensor that lie side by side in each of its parts and in the target buffers.
struct UploadStep {
  std::string tensor;
  std::vector<SourceRange> sources;  // one for each part of the tensor: words, scales, biases
  Dtype dtype = Dtype::f32;
  std::uint32_t bits = 0;
  std::uint32_t group = 0;
  bool flatten = false;
  bool may_be_zero = false;
  QuantLayout layout;
  std::uint64_t first_row = 0;  // in the tensor
  std::uint32_t n_rows = 0;
  std::uint32_t unpermute_head_dim = 0;
  BufferPlace words;
  BufferPlace scales;  // only if layout.has_scales()

  std::uint64_t n_bytes() const;  // of all sources
};

// "lm_head.biases" for part 2 of "lm_head.weight": the name that MLX's files give a part.
std::string part_name(const UploadStep& step, std::size_t part);

inline constexpr std::uint64_t k_piece_bytes = 4ull << 20;

// Cuts the requests into steps of at most `piece_bytes` of words (or one row, or one head) with the scales and
// biases that belong to them, ordered by file and offset of the words. Errors: unsupported when a tensor has no
// kernel layout (kernel_layout()), when its rows are no whole heads, or when two tensors that share a slot
// differ in layout. Targets outside the rows of the tensor are a programmer error.
Result<std::vector<UploadStep>> plan_uploads(std::span<const UploadRequest> requests,
                                             const Checkpoint& checkpoint,
                                             std::uint64_t piece_bytes = k_piece_bytes);

// Converts the bytes of `step.sources`, one span for each. `out` is reused: its words go to step.words, its
// scales to step.scales. `files` are the checkpoint's, for errors: corrupt_file, naming tensor and row, for a
// scale or a number that is not finite; unsupported for scales that are too small (load/small_scales.hpp).
Result<void> apply(const UploadStep& step, std::span<const Bytes> sources,
                   std::span<const CheckpointFile> files, QuantisedRows& out);

}  // namespace ztvm::load
