#include "load/zero_holes.hpp"

#include <algorithm>

namespace ztvm::load {
namespace {

constexpr bool is_zero(std::byte b) { return b == std::byte{0}; }

std::uint64_t zeros_in_front(Bytes bytes) {
  return static_cast<std::uint64_t>(std::ranges::find_if_not(bytes, is_zero) - bytes.begin());
}

std::uint64_t zeros_behind(Bytes bytes) {
  std::size_t n = 0;
  while (n < bytes.size() && is_zero(bytes[bytes.size() - 1 - n])) ++n;
  return n;
}

// Whether one of the row's numbers in the last source (MLC's scales, MLX's biases) is neither 0 nor -0.
bool has_scales(const UploadStep& step, std::span<const Bytes> sources, std::uint32_t row) {
  const std::size_t row_bytes = sources.back().size() / step.n_rows;
  const Bytes numbers = sources.back().subspan(row * row_bytes, row_bytes);
  const std::size_t number_bytes = info(step.sources.back().dtype).block_bytes;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool has_sign = (i + 1) % number_bytes == 0;
    if (!is_zero(has_sign ? numbers[i] & std::byte{0x7F} : numbers[i])) return true;
  }
  return false;
}

}  // namespace

void ZeroHoles::see(const UploadStep& step, std::span<const Bytes> sources) {
  const SourceRange& words = step.sources.front();
  if (words.file != file_ || words.range.offset != next_offset_) {
    end_stretch(0);
    start_stretch(words.range.offset, 0);
  }
  file_ = words.file;
  next_offset_ = words.range.end();
  is_apart_ = sources.size() > 1;
  const std::size_t row_bytes = sources.front().size() / step.n_rows;
  for (std::uint32_t r = 0; r < step.n_rows; ++r) {
    const Bytes row = sources.front().subspan(r * row_bytes, row_bytes);
    const std::uint64_t n_front = zeros_in_front(row);
    if (n_front == row_bytes) {
      stretch_.n_bytes += row_bytes;
      has_scales_ = has_scales_ || (is_apart_ && has_scales(step, sources, r));
      continue;
    }
    end_stretch(n_front);
    const std::uint64_t n_behind = zeros_behind(row);
    start_stretch(words.range.offset + (r + 1) * row_bytes - n_behind, n_behind);
  }
}

void ZeroHoles::start_stretch(std::uint64_t offset, std::uint64_t n_bytes) {
  stretch_ = {.offset = offset, .n_bytes = n_bytes};
  begins_inside_ = n_bytes >= k_inside_bytes;
  has_scales_ = false;
}

// The stretch has `n_more` bytes in a row that is not all zero.
void ZeroHoles::end_stretch(std::uint64_t n_more) {
  const Hole ended = {.offset = stretch_.offset, .n_bytes = stretch_.n_bytes + n_more};
  const bool is_hole = is_apart_ ? has_scales_ : begins_inside_ || n_more >= k_inside_bytes;
  const std::uint64_t least_bytes = is_apart_ ? k_apart_bytes : k_hole_bytes;
  if (is_hole && ended.n_bytes >= least_bytes && hole_.n_bytes == 0) hole_ = ended;
  start_stretch(next_offset_, 0);
}

}  // namespace ztvm::load
