#include "load/read_plan.hpp"

#include <algorithm>
#include <tuple>

namespace ztvm::load {
namespace {

std::uint64_t held_bytes_of(const UploadStep& step) {
  return step.n_bytes() - step.sources.front().range.n_bytes;
}

// The end of the batch that begins with `first`.
std::size_t batch_end(std::span<const UploadStep> steps, std::size_t first, std::uint64_t held_bytes) {
  std::uint64_t n_held = held_bytes_of(steps[first]);
  for (std::size_t i = first + 1; i < steps.size(); ++i) {
    n_held += held_bytes_of(steps[i]);
    const bool same_tensor = steps[i].tensor == steps[first].tensor;
    if (!same_tensor || steps[i].flatten != steps[first].flatten || n_held > held_bytes) return i;
  }
  return steps.size();
}

// Scales and biases in the order of the file, words last.
std::vector<std::size_t> parts_in_order(const UploadStep& step) {
  std::vector<std::size_t> parts;
  for (std::size_t part = 1; part < step.sources.size(); ++part) parts.push_back(part);
  std::ranges::sort(parts, {}, [&](std::size_t part) {
    return std::tuple(step.sources[part].file, step.sources[part].range.offset);
  });
  parts.push_back(0);
  return parts;
}

void add_reads(std::span<const UploadStep> steps, std::size_t first, std::size_t last, std::size_t part,
               std::uint64_t piece_bytes, std::vector<PlannedRead>& reads) {
  for (std::size_t i = first; i < last; ++i) {
    const SourceRange& source = steps[i].sources[part];
    if (i > first) {
      PlannedRead& read = reads.back();
      const bool follows = read.file == source.file && read.range.end() == source.range.offset;
      if (follows && read.range.n_bytes + source.range.n_bytes <= piece_bytes) {
        read.range.n_bytes += source.range.n_bytes;
        ++read.n_steps;
        continue;
      }
    }
    reads.push_back(
        {.file = source.file, .range = source.range, .part = part, .first_step = i, .n_steps = 1});
  }
}

}  // namespace

std::vector<PlannedRead> plan_reads(std::span<const UploadStep> steps, std::uint64_t piece_bytes,
                                    std::uint64_t held_bytes) {
  std::vector<PlannedRead> reads;
  for (std::size_t first = 0; first < steps.size();) {
    const std::size_t last = batch_end(steps, first, held_bytes);
    for (const std::size_t part : parts_in_order(steps[first])) {
      add_reads(steps, first, last, part, piece_bytes, reads);
    }
    first = last;
  }
  return reads;
}

}  // namespace ztvm::load
