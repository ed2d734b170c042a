#pragma once
// The rows of a matmul's input as whole numbers, so that `dot4I8Packed` multiplies them: 32 elements, a quantisation group,
// become v * scale. v has 16 bits in two planes of signed bytes (v = 256 high + low), or 8 bits in one.
// Four threads a group. Bytes moved: dim activations read, dim * planes + dim / 4 written a row.
//
// The scale is that of the largest magnitude, rounded up to one of eight steps a power of two, which costs up to 12 % of
// the range, and makes every number the same on all devices: WGSL's division is not exact, multiplication is.
// A group with infinity or NaN has v = 0 and a scale of infinity or NaN, and so has one whose sum of eight neighbours overflows; one
// below 2^-100 is zero, and so is one from 2^127 on, which no activation of a sound model has.
#include <array>
#include <span>

#include "kernels/step.hpp"

namespace ztvm::kernels {

// How the vectors of a row, for each group its halves and for each plane, the high one first, follow each other.
enum class QuantisedOrder : std::uint8_t {
  by_group,   // [dim / 32][planes, 2]: what a tile needs of a group lies together
  by_vector,  // [planes, 2][dim / 32]: what threads with a group each ask for together does
};

// Where they are, for max_rows rows.
struct QuantisedInput {
  gpu::Tensor bytes;   // u32, words of four elements in vectors of 16 bytes: a row's in a QuantisedOrder
  gpu::Tensor scales;  // f32 [max_rows, dim / 32, 2]: scale, and scale times the sum of v
};

// Elements that `rows` rows of `dim` elements need of each, dim a multiple of 32.
constexpr std::uint64_t quantised_words(std::uint64_t rows, std::uint32_t dim, std::uint32_t planes) {
  return rows * dim * planes / 4;
}
constexpr std::uint64_t quantised_scales(std::uint64_t rows, std::uint32_t dim) { return rows * dim / 16; }

// 1 with Target::int8, else 2.
std::uint32_t input_planes(const gpu::Target& target);

struct QuantiseInput {
  std::uint32_t dim = 0;
  gpu::Tensor step;  // Step
  gpu::Tensor x;     // [max_rows, dim] activation type
  QuantisedInput out;
  QuantisedOrder order = QuantisedOrder::by_group;
};

void quantise_input(gpu::Recording& recording, std::string_view name, const QuantiseInput& args);

// The oracle, on bindings step, x, bytes, scales.
void quantise_input_reference(std::span<const gpu::HostView> views, std::uint32_t dim, std::uint32_t planes,
                              QuantisedOrder order);

// Row `row` as numbers, for oracles that read it; out.size() is dim.
void load_quantised_row(const gpu::HostView& bytes, const gpu::HostView& scales, std::uint32_t planes,
                        QuantisedOrder order, std::size_t row, std::span<float> out);

}  // namespace ztvm::kernels
