#include "load/small_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/in_quotes.hpp"

namespace ztvm::load {
namespace {

constexpr float k_most_change = 0x1p-9f;      // what bfloat16 itself rounds by
constexpr float k_mlx_zero_scale = 1.01e-7f;  // 1e-7, which MLX writes for a group of zeros, also as bfloat16

// Numbers of one part.
struct Numbers {
  Bytes bytes;
  Dtype dtype = Dtype::f16;

  std::size_t count() const { return bytes.size() / info(dtype).block_bytes; }
  float at(std::size_t i) const {
    if (dtype == Dtype::f32) return load_as<float>(bytes, i * 4);
    const auto bits = load_as<std::uint16_t>(bytes, i * 2);
    return dtype == Dtype::bf16 ? bfloat_to_float(bits) : half_to_float(bits);
  }
};

// The largest magnitude, as the bits that stand for it: they are in the same order, and the loop becomes vectors.
template <typename Word>
Word largest_bits(Bytes bytes, Word magnitude) {
  Word largest = 0;
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word bits;
    std::memcpy(&bits, bytes.data() + at, sizeof(bits));
    largest = std::max(largest, static_cast<Word>(bits & magnitude));
  }
  return largest;
}

float largest_of(const Numbers& numbers) {
  if (numbers.dtype == Dtype::f32) {
    return std::bit_cast<float>(largest_bits<std::uint32_t>(numbers.bytes, 0x7FFFFFFFu));
  }
  const auto bits = largest_bits<std::uint16_t>(numbers.bytes, 0x7FFFu);
  return numbers.dtype == Dtype::bf16 ? bfloat_to_float(bits) : half_to_float(bits);
}

// What rounding a number of the subnormal halves adds; the rounding of others is a share of the number.
float change_of(float value) {
  const std::uint16_t half = float_to_half(value);
  return (half & 0x7C00u) == 0 ? std::abs(half_to_float(half) - value) : 0.0f;
}

std::string sentence(const UploadStep& step, std::size_t part, std::size_t index, std::size_t n_numbers,
                     float value, std::span<const CheckpointFile> files) {
  const std::uint64_t row = step.first_row + index / (n_numbers / step.n_rows);
  return fmt::format(
      "Tensor {} in {} has the {} {} in row {}, which is too small for f16, expected {} or more.",
      in_quotes(part_name(step, part)), files[step.sources[part].file].name, part == 1 ? "scale" : "bias",
      value, row, 0x1p-14f);
}

}  // namespace

std::optional<std::string> small_scale_problem(const UploadStep& step, std::span<const Bytes> sources,
                                               std::span<const CheckpointFile> files) {
  if (step.dtype != Dtype::affine) return std::nullopt;
  const Numbers scales = {.bytes = sources[1], .dtype = step.sources[1].dtype};
  const Numbers biases = {.bytes = sources[2], .dtype = step.sources[2].dtype};
  if (scales.dtype == Dtype::f16 && biases.dtype == Dtype::f16) return std::nullopt;
  const float levels = static_cast<float>((1u << step.bits) - 1);
  const float largest = std::max(largest_of(scales) * levels, largest_of(biases));
  // No rounding of a scale and a bias changes a weight by more.
  if (!(largest * k_most_change < (levels + 1) * 0x1p-25f)) return std::nullopt;
  for (std::size_t i = 0; i < scales.count(); ++i) {
    const float scale = scales.at(i);
    const float bias = biases.at(i);
    if (bias == 0.0f && std::abs(scale) <= k_mlx_zero_scale) continue;
    const float by_scale = change_of(scale) * levels;
    const float by_bias = change_of(bias);
    if (by_scale + by_bias <= largest * k_most_change) continue;
    const std::size_t part = by_scale >= by_bias ? 1 : 2;
    return sentence(step, part, i, scales.count(), part == 1 ? scale : bias, files);
  }
  return std::nullopt;
}

}  // namespace ztvm::load
